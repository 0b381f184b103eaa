package testbed

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// short is long enough for a dial that works, and not for one that is repeated
// (the kernel waits a second for that).
const short = 500 * time.Millisecond

// reaches says how a new connection from one host to another fails.
func reaches(b *Bed, from, to int, port uint16) error {
	c, err := b.Dial(from, netip.AddrPortFrom(b.Addr(to), port), short)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func TestCut(t *testing.T) {
	t.Parallel()
	b := New(t, 3, Rails(2))
	port := listen(t, b, 1)
	b.Cut(1)
	if err := reaches(b, 0, 1, port); !errors.Is(err, syscall.EHOSTUNREACH) && !timeout(err) {
		t.Errorf("without a cable: %v", err)
	}
	if c, err := b.Dial(0, netip.AddrPortFrom(b.RailAddr(1, 1), port), short); err == nil {
		_ = c.Close()
		t.Error("the second cable is in")
	}
	b.Heal(1)
	b.await("the healed cable", func() error { return reaches(b, 0, 1, port) })
}

func TestPartition(t *testing.T) {
	t.Parallel()
	b := New(t, 3)
	var ports [3]uint16
	for i := range ports {
		ports[i] = listen(t, b, i)
	}
	b.Partition(2, 1)
	for from := range 3 {
		for to := range 3 {
			err := reaches(b, from, to, ports[to])
			if apart := from+to == 3 && from != 0 && to != 0; apart != (err != nil) {
				t.Errorf("h%d to h%d: %v", from, to, err)
			}
		}
	}
	b.Heal(2)
	b.await("the end of the partition", func() error { return reaches(b, 1, 2, ports[2]) })
}

// A connection is reset while it is used, and what is tried later fails at once.
func TestReset(t *testing.T) {
	t.Parallel()
	b := New(t, 2)
	near, far := pipe(t, b)
	b.Reset(0, 1)
	for _, c := range []net.Conn{near, far} {
		_ = c.SetDeadline(time.Now().Add(limit))
		_, _ = c.Write([]byte{1})
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reset: %v", err)
		}
	}
	port := listen(t, b, 1)
	if err := reaches(b, 0, 1, port); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: %v", err)
	}
	b.Heal(0)
	if err := reaches(b, 0, 1, port); err != nil {
		t.Errorf("healed: %v", err)
	}
}

// With loss a connection repeats what is lost; with nearly all lost little arrives.
func TestLoss(t *testing.T) {
	t.Parallel()
	b := New(t, 2)
	near, far := pipe(t, b)
	b.Loss(1, 10)
	const size = 1 << 20
	go func() {
		_, _ = near.Write(make([]byte, size))
		_ = near.Close()
	}()
	_ = far.SetDeadline(time.Now().Add(limit))
	if n, err := io.Copy(io.Discard, far); n != size || err != nil {
		t.Errorf("%d bytes: %v", n, err)
	}
	if dropped := b.do(b.sw, `nft list ruleset | grep -c 'numgen random mod 100 < 10 drop'`); dropped != "2\n" {
		t.Errorf("rules: %s", dropped)
	}
	port := listen(t, b, 1)
	b.Loss(1, 99)
	if err := reaches(b, 0, 1, port); err == nil {
		t.Error("99 % are lost, and a connection was made")
	}
	b.Heal(1)
	b.await("the end of the loss", func() error { return reaches(b, 0, 1, port) })
}

// pipe is a connection from h0 to h1.
func pipe(t *testing.T, b *Bed) (near, far net.Conn) {
	t.Helper()
	var l net.Listener
	var err error
	b.In(1, func() { l, err = net.Listen("tcp", b.Addr(1).String()+":0") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err = b.Dial(0, l.Addr().(*net.TCPAddr).AddrPort(), limit)
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

func timeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
