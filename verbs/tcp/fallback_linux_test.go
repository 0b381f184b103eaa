package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// server answers each connection on a port of loopback with f, until the test ends.
func server(t *testing.T, f func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(limit))
				f(c)
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return addrOf(l.Addr())
}

// silent reads and says nothing.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// blackhole is an address that takes no connection and says nothing: its queue of
// connections is full.
func blackhole(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(sa.(*unix.SockaddrInet4).Port))
	for range 10 {
		c, err := net.DialTimeout("tcp", at.String(), 100*time.Millisecond)
		if err != nil {
			return at
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("the queue of connections doesn't fill")
	return at
}

// closedPort is one where nobody listens.
func closedPort(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return addrOf(l.Addr())
}

func (e *end) at() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), e.port)
}

// search dials to by the given addresses.
func (e *end) search(ctx context.Context, to deviceID, at ...netip.AddrPort) (link, error) {
	var routes []route
	for _, a := range at {
		routes = append(routes, route{to: a})
	}
	d := &dialing{contacts: e.contacts, whole: ctx, peer: &deviceAddr{id: to}, want: want{from: to, local: 1, remote: 2}}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	return d.run(ctx, routes)
}

// wrongPlaces are addresses at which the peer isn't, and what a dial says of each.
func wrongPlaces(t *testing.T, job secret.Secret, tls bool) []struct {
	name, why string
	at        netip.AddrPort
} {
	version := newPreamble(tls)
	version[4]++
	return []struct {
		name, why string
		at        netip.AddrPort
	}{
		{"nobody listens", "connection refused", closedPort(t)},
		{"a black hole", "no answer", blackhole(t)},
		{"somebody who says nothing", "no answer", server(t, silent)},
		{"somebody who hangs up", "closed the connection without a word", server(t, func(net.Conn) {})},
		{"another service", "no device of this kind", server(t, func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example.org ESMTP\r\n"); silent(c) })},
		{"another version", "version 2 of the protocol", server(t, func(c net.Conn) { _, _ = c.Write(version[:]); silent(c) })},
		{"another rank of this job", "is not the peer", opened(t, Config{Secret: job, Net: "lo", TLS: tls}, accepts).at()},
		{"a device of another job", "is not the peer", opened(t, Config{Secret: secret.New(), Net: "lo", TLS: tls}, accepts).at()},
		{"a rank whose TLS is set otherwise", "VERBENA_TLS", opened(t, Config{Secret: job, Net: "lo", TLS: !tls}, accepts).at()},
	}
}

// Whatever is at the first addresses, the peer is found at the last one; and where it
// isn't, the error says of each address what was wrong.
func TestFallback(t *testing.T) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS=%v", tls), func(t *testing.T) {
			job := secret.New()
			a := opened(t, Config{Secret: job, Net: "lo", TLS: tls, Timeout: time.Second}, accepts)
			b := opened(t, Config{Secret: job, Net: "lo", TLS: tls}, accepts)
			var all []netip.AddrPort
			for _, w := range wrongPlaces(t, job, tls) {
				all = append(all, w.at)
				t.Run(w.name, func(t *testing.T) {
					t.Parallel()
					l, err := a.search(t.Context(), b.id, w.at, b.at())
					if err != nil {
						t.Fatal(err)
					}
					_ = l.close()
					in := b.taken(t)
					if l.peer != b.id || in.peer != a.id {
						t.Errorf("link to %v from %v, expected %v from %v", l.peer, in.peer, b.id, a.id)
					}
					_, err = a.search(t.Context(), b.id, w.at)
					if err == nil || !strings.Contains(err.Error(), w.why) || !strings.Contains(err.Error(), w.at.String()) {
						t.Errorf("error %v, expected %q", err, w.why)
					}
				})
			}
			t.Run("all", func(t *testing.T) {
				t.Parallel()
				_, err := a.search(t.Context(), b.id, all...)
				for _, at := range all {
					if err == nil || !strings.Contains(err.Error(), at.String()) {
						t.Errorf("%v isn't in the error %v", at, err)
					}
				}
			})
		})
	}
}

// The time for all addresses together is limited, and a dial that nobody waits for
// any more ends at once.
func TestDialEnds(t *testing.T) {
	a := opened(t, Config{Secret: secret.New(), Net: "lo", Timeout: 500 * time.Millisecond}, accepts)
	hole, dumb := blackhole(t), server(t, silent)
	start := time.Now()
	if _, err := a.search(t.Context(), deviceID{}, hole, dumb, hole, dumb, hole); err == nil {
		t.Error("a link to nobody")
	}
	if took := time.Since(start); took < 400*time.Millisecond || took > limit/2 {
		t.Errorf("it took %v, expected 500 ms", took)
	}
	b := opened(t, Config{Secret: secret.New(), Net: "lo", Timeout: time.Hour}, accepts)
	for _, at := range []netip.AddrPort{hole, dumb} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := b.search(ctx, deviceID{}, at); err == nil {
			t.Error("a link to nobody")
		}
		cancel()
	}
	addr := deviceAddr{id: deviceID{1}, host: b.host, port: dumb.Port(), at: []place{{prefix: netip.MustParsePrefix("127.0.0.1/8")}}}
	failed := make(chan error, 1)
	go func() {
		_, err := b.dial(t.Context(), addr.encode(), 1, 2, 0)
		failed <- err
	}()
	b.close()
	select {
	case err := <-failed:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("dial of closed contacts: %v", err)
		}
	case <-time.After(limit):
		t.Error("a dial survives its contacts")
	}
}

// Where nobody answers the first time, there is time for a second one.
func TestSecondTry(t *testing.T) {
	job := secret.New()
	a := opened(t, Config{Secret: job, Net: "lo", Timeout: time.Second}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	var tries atomic.Int32
	relay := server(t, func(c net.Conn) {
		if tries.Add(1) == 1 {
			silent(c)
			return
		}
		to, err := net.Dial("tcp", b.at().String())
		if err != nil {
			return
		}
		defer to.Close()
		go func() { _, _ = io.Copy(c, to) }()
		_, _ = io.Copy(to, c)
	})
	l, err := a.search(t.Context(), b.id, relay)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.close()
	b.taken(t)
}

// A peer that has said its first word has more time for the rest than an address where
// nobody speaks.
func TestSlowHandshake(t *testing.T) {
	job := secret.New()
	a := opened(t, Config{Secret: job, Net: "lo", Timeout: 2 * time.Second}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	var tries atomic.Int32
	relay := server(t, func(c net.Conn) {
		tries.Add(1)
		to, err := net.Dial("tcp", b.at().String())
		if err != nil {
			return
		}
		defer to.Close()
		go func() {
			_, _ = io.CopyN(c, to, preambleSize)
			<-time.After(a.cfg.Timeout / 3) // more than the share of one of three addresses
			_, _ = io.Copy(c, to)
		}()
		_, _ = io.Copy(to, c)
	})
	l, err := a.search(t.Context(), b.id, relay, closedPort(t), closedPort(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.close()
	b.taken(t)
	if n := tries.Load(); n != 1 {
		t.Errorf("it was dialed %d times, expected once", n)
	}
}
