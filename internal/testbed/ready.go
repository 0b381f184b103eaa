package testbed

import (
	"errors"
	"net"
	"net/netip"
	"testing"
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
	Await(b.t, what, limit, ask)
}

// Await asks every few milliseconds until the answer is no error, for what tells nobody
// that it has happened. It fails the test, with the last answer, when that takes too long.
func Await(t testing.TB, what string, within time.Duration, ask func() error) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(within); ; <-tick.C {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s: %v", within, what, err)
		}
	}
}
