package testbed

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

// Dial connects to an address from a host.
func (b *Bed) Dial(host int, addr netip.AddrPort, timeout time.Duration) (net.Conn, error) {
	b.t.Helper()
	err := errors.New("not dialed")
	var conn net.Conn
	b.In(host, func() { conn, err = net.DialTimeout("tcp", addr.String(), timeout) })
	return conn, err
}

// answers waits until a port of a host takes connections.
func (b *Bed) answers(host int, port uint16) {
	b.t.Helper()
	b.await(Name(host)+" to listen", func() error {
		conn, err := b.Dial(host, netip.AddrPortFrom(b.Addr(host), port), limit)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

// await asks until something is so. Daemons tell nobody when they are ready.
func (b *Bed) await(what string, ask func() error) {
	b.t.Helper()
	end := time.Now().Add(limit)
	for {
		err := ask()
		if err == nil || b.t.Failed() {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("testbed: waited %v for %s: %v", limit, what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
