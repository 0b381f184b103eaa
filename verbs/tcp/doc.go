// Package tcp is the device between hosts: queue pairs over TCP sockets.
//
// # Connections
//
// A device listens on one port, on all addresses. What it publishes is its id, which
// is random, its port, and the addresses that may serve (Config.Net). Whoever wants
// to talk dials them one after the other: those in a subnet of its own first, then
// those of the same kind (private or public), bridges of containers last. Devices of
// one host meet over loopback; else an address that is also one of the dialer's own
// isn't dialed.
//
// Before a connection serves, both ends prove the job's secret (internal/secret). The
// proof is bound to the ids of the two devices, so that nobody else can stand there
// who got the peer's port or address by chance; and nothing that the other end says is
// taken for more than it is until then. Those who haven't proved anything yet are few
// at a time, and have little time. With TLS all of that is said within the session.
//
// During the handshake a socket is one of Go's net package; then its descriptor leaves
// Go's poller, and whoever drives the device reads and writes it.
package tcp
