package tcp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// Both sides start at moments that a seed chooses, with messages at once. Whichever
// connection stays, all messages arrive, once and in order, both ways, and no side
// hears of an end.
func TestSimultaneousConnects(t *testing.T) {
	dials := uint64(0)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		x, y := newNode(t, Config{}, normal), newNode(t, Config{}, normal)
		x.pair(t, y, 1, 2)
		y.pair(t, x, 2, 1)
		const messages = 20
		sides := [2]*node{x, y}
		var sent, got [2]int
		var starts [2]int
		for i := range starts {
			starts[i] = rng.IntN(1 << rng.IntN(12))
		}
		turn := 0
		within(t, fmt.Sprintf("messages both ways, seed %d", seed), func() bool {
			turn++
			for i, n := range sides {
				for sent[i] < messages && turn > starts[i] {
					wr := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: []byte{byte(sent[i])}}}
					k, err := n.qp.PostSend(wr)
					if err != nil && !errors.Is(err, verbs.ErrFull) {
						t.Fatal(err)
					}
					if sent[i] += k; k == 0 {
						break
					}
				}
				if rng.IntN(3) == 0 {
					continue
				}
				for _, c := range n.poll() {
					if c.Op != verbs.OpRecv || c.Status != verbs.StatusOK || c.Data[0] != byte(got[i]) {
						t.Fatalf("seed %d: side %d gets %v %v %v after %d messages", seed, i, c.Op, c.Status, c.Data, got[i])
					}
					got[i]++
				}
			}
			return got == [2]int{messages, messages}
		})
		dials += x.counter("dials") + y.counter("dials")
		_, _ = x.dev.Close(), y.dev.Close()
	}
	t.Logf("%d dials of 60 pairs", dials)
	if dials == 60 {
		t.Error("both sides never dialed at the same time")
	}
}

// A connection that a peer makes and ends without a word costs nobody anything: the
// queue pair makes one itself when it needs it.
func TestCandidateThatEnds(t *testing.T) {
	for _, noticed := range []bool{true, false} {
		x, y := newNode(t, Config{}, normal), newNode(t, Config{}, normal)
		x.pair(t, y, 3, 2)
		y.pair(t, x, 2, 3) // y chooses
		l, far := linked(t)
		x.dev.admit(link{fd: l.fd, local: 3, remote: 2})
		l.fd = -1 // it is x's
		if !noticed {
			_, _ = x.qp.PostSend(nil)
		}
		_ = far.close()
		within(t, "the end of the connection", func() bool { x.poll(); return len(x.qp.candidates) == 0 })
		within(t, "a message", func() bool {
			x.poll()
			if x.qp.state != qpReady {
				_, _ = x.qp.PostSend(nil)
				y.poll()
				return false
			}
			return true
		})
		x.send(t, []byte("a"))
		y.receive(t, 1)
	}
}

// What a peer must not say ends its own queue pair, and no other.
func TestLies(t *testing.T) {
	n := newNode(t, Config{}, normal)
	x, y := newDuo(t, normal)
	good := hello{1000}.append(nil)
	for _, c := range []struct {
		what  string
		bytes []byte
	}{
		{"no frame", make([]byte, 16)},
		{"a kind that there isn't", []byte{byte(kinds), 15: 0}},
		{"a frame of 4 GiB", []byte{byte(kindSend), 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 15: 0}},
		{"a message longer than a slot", (&header{kind: kindSend, length: 64<<10 + 1}).append(nil)},
		{"a second hello", good},
		{"data that nobody asked for", (&header{kind: kindData, length: 8, word: 1 << offsetBits}).append(nil)},
		{"the end of a read that nobody asked for", (&header{kind: kindEnd, flags: uint8(verbs.StatusRemoteAccess)}).append(nil)},
		{"a read of 2⁶² bytes", request{1, 2, 1 << 62}.append(nil, 1)},
		{"a read of nothing", request{1, 2, 0}.append(nil, 1)},
	} {
		p := newPeer(t, n, 1000)
		p.write(c.bytes)
		got := p.polled()
		if len(got) != 1 || got[0].Op != verbs.OpClosed || got[0].Status != verbs.StatusCorrupt {
			t.Errorf("%s: %+v", c.what, got)
		}
		x.send(t, []byte("other"))
		y.receive(t, 1)
		p.close()
	}
	p := newPeer(t, n, 0)
	p.write(header{kind: kindSend}.bytes())
	if n.poll(); n.qp.state != qpFailed {
		t.Error("a message before the hello is taken")
	}
	if n.counter("corrupt") != 10 {
		t.Errorf("%d lies were counted", n.counter("corrupt"))
	}
}

func (h header) bytes() []byte { return h.append(nil) }

// A peer that asks for more than it takes is bounded: memory doesn't grow with what it
// asks for.
func TestGreedyPeer(t *testing.T) {
	n := newNode(t, Config{}, normal)
	p := newPeer(t, n, 1000)
	var asked int
	within(t, "the end of a peer that asks and doesn't take", func() bool {
		for range 50 {
			if k, _ := send(p.fd, request{1, 2, 3}.append(nil, uint32(asked))); k > 0 {
				asked++
			}
		}
		for _, c := range n.poll() {
			return c.Op == verbs.OpClosed && c.Status == verbs.StatusCorrupt
		}
		return false
	})
	t.Logf("after %d reads", asked)
}
