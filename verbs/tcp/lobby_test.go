package tcp

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// seat is a connection that notes whether it was closed.
type seat struct {
	net.Conn
	closed bool
}

func (s *seat) Close() error {
	s.closed = true
	return nil
}

func (s *seat) Read(p []byte) (int, error) { return copy(p, "x"), nil }

// door is a lobby with a clock of its own.
type door struct {
	*lobby
	now time.Duration
}

func newDoor(all, source int) *door {
	d := &door{lobby: newLobby(limits{all: all, source: source, mute: 100 * time.Millisecond, stuck: time.Second})}
	d.clock = func() time.Duration { return d.now }
	return d
}

func (d *door) come(t *testing.T, source byte) (*guest, *seat) {
	t.Helper()
	s := &seat{}
	g, wait, _, refused := d.enter(s, netip.AddrFrom4([4]byte{10, 0, 0, source}))
	if g == nil {
		t.Fatalf("no place: wait %v, refused %v", wait, refused)
	}
	return g, s
}

// All places are taken: who comes has to wait until somebody leaves, or has been
// silent for long enough to be sent away.
func TestLobbyFull(t *testing.T) {
	d := newDoor(3, 3)
	first, firstSeat := d.come(t, 1)
	d.now = 20 * time.Millisecond
	second, secondSeat := d.come(t, 2)
	third, thirdSeat := d.come(t, 3)
	g, wait, change, refused := d.enter(&seat{}, netip.AddrFrom4([4]byte{10, 0, 0, 4}))
	if g != nil || wait != 80*time.Millisecond || refused {
		t.Fatalf("place %v, wait %v, refused %v; expected to wait 80 ms", g, wait, refused)
	}
	if !d.leave(second) || d.leave(second) {
		t.Error("a guest leaves once")
	}
	select {
	case <-change:
	default:
		t.Error("who waits isn't told of a free place")
	}
	d.now = 30 * time.Millisecond
	d.come(t, 4)
	// The first one speaks, the third doesn't.
	d.now = 90 * time.Millisecond
	if _, err := first.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	d.now = 130 * time.Millisecond
	d.come(t, 5)
	if firstSeat.closed || secondSeat.closed || !thirdSeat.closed {
		t.Errorf("closed: %v, %v, %v; expected that the third one had to go", firstSeat.closed, secondSeat.closed, thirdSeat.closed)
	}
	if d.leave(third) {
		t.Error("who was sent away leaves again")
	}
	// Who has spoken once may be silent for longer, but not for ever.
	d.now = 1080 * time.Millisecond
	d.come(t, 6)
	d.come(t, 7)
	if firstSeat.closed {
		t.Error("who has spoken has to go before those who never have")
	}
	d.now = 1100 * time.Millisecond
	d.come(t, 8)
	if !firstSeat.closed || d.leave(first) {
		t.Error("who has spoken once may stay for ever")
	}
}

// One source has its own limit, and is the one that makes room when all is full.
func TestLobbySource(t *testing.T) {
	d := newDoor(4, 3)
	_, other := d.come(t, 2) // the oldest of all
	d.now = time.Millisecond
	var flood []*seat
	for range 3 {
		_, s := d.come(t, 1)
		flood = append(flood, s)
	}
	if g, _, _, refused := d.enter(&seat{}, netip.AddrFrom4([4]byte{10, 0, 0, 1})); g != nil || !refused {
		t.Errorf("a fourth guest of one source: %v, refused %v", g, refused)
	}
	d.now = time.Second
	d.come(t, 3)
	if other.closed {
		t.Error("somebody else has to go for a flood")
	}
	gone := 0
	for _, s := range flood {
		if s.closed {
			gone++
		}
	}
	if gone != 1 || len(d.guests) != 4 {
		t.Errorf("%d of the flood had to go, %d guests; expected 1 and 4", gone, len(d.guests))
	}
}

// The books balance, whatever comes and goes.
func TestLobbyBooks(t *testing.T) {
	d := newDoor(16, 8)
	var in []*guest
	for i := range 10000 {
		d.now += time.Duration(i%7) * time.Millisecond
		if i%3 > 0 || len(in) == 0 {
			if g, _, _, _ := d.enter(&seat{}, netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 5 * (i % 3))})); g != nil {
				in = append(in, g)
			}
		} else {
			k := i * 7919 % len(in)
			d.leave(in[k])
			in = append(in[:k], in[k+1:]...)
		}
		sum := 0
		for _, n := range d.from {
			if n > 8 || n <= 0 {
				t.Fatalf("%d guests of one source", n)
			}
			sum += n
		}
		if sum != len(d.guests) || sum > 16 {
			t.Fatalf("%d guests, by source %d", len(d.guests), sum)
		}
	}
}

func TestSource(t *testing.T) {
	for in, want := range map[string]string{
		"10.1.2.3:5":               "10.1.2.3",
		"[::ffff:10.1.2.3]:5":      "10.1.2.3",
		"[2001:db8:1:2:3:4:5:6]:5": "2001:db8:1:2::",
		"[fe80::1%eth0]:5":         "fe80::1",
		"[::1]:5":                  "::1",
	} {
		if got := sourceOf(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(in))); got.String() != want {
			t.Errorf("source of %s: %v, expected %v", in, got, want)
		}
	}
}
