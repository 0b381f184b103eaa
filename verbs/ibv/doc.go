// Package ibv is the device for RDMA adapters, over libibverbs: InfiniBand,
// RoCE and soft-RoCE.
//
// It is built with cgo and the build tag ibv; without them Open says so. The
// files are those of every device (device, cq, qp, rq, mr). shim.h and
// shim_unsafe.go are the only ones that know C; connect.go, link.go and wire.go
// are the exchange that brings two queue pairs together.
package ibv

import (
	"net"
	"net/netip"
	"time"
)

// Config says which adapter to use, and how peers reach it. The zero value takes
// the first adapter.
type Config struct {
	// Name of the adapter ("mlx5_0"); empty: the first.
	Name string
	// Port of the adapter; 0: the first, 1.
	Port int
	// GID is the port's address to use. The zero Addr chooses: an IPv4
	// address of RoCE v2, another routable one, what there is.
	GID netip.Addr
	// Listen is where peers exchange queue pair numbers with this device, over
	// TCP. The zero Addr chooses: the GID's IPv4 address, or all addresses.
	Listen netip.Addr
	// Patience is how long a queue pair that asked for its connection waits for
	// the other side's Connect; 0: 5 s.
	Patience time.Duration
	// Prove, if it isn't nil, runs on every connection of that exchange,
	// before anything else is sent or believed; an error ends the connection.
	Prove func(c net.Conn, dialed bool) error
}
