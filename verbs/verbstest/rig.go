package verbstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// rig is the devices of one test.
type rig struct {
	t     testing.TB
	net   Net
	limit time.Duration
	sides []*side
	seed  uint64
	label uint32
	gate  gate
}

// newRig opens n devices with queues of the given shape.
func newRig(t testing.TB, h Harness, n int, sh shape) *rig {
	t.Helper()
	r := &rig{t: t, limit: h.Limit, seed: h.seeds.next(), label: 100}
	r.net = h.Open(t, n)
	if len(r.net.Devices) != n {
		t.Fatalf("Harness.Open(%d) made %d devices", n, len(r.net.Devices))
	}
	t.Cleanup(func() {
		for _, s := range r.sides {
			_ = s.dev.Close()
		}
	})
	for i, dev := range r.net.Devices {
		s, err := newSide(string(rune('A'+i)), dev, sh)
		if err != nil {
			t.Fatal(err)
		}
		r.sides = append(r.sides, s)
	}
	return r
}

// newPair opens two devices and connects them.
func newPair(t testing.TB, h Harness, sh shape) (r *rig, a, b *end) {
	t.Helper()
	r = newRig(t, h, 2, sh)
	a, b = r.connect(0, 1)
	return r, a, b
}

// newEnd makes a queue pair on side i.
func (r *rig) newEnd(i int) *end {
	r.t.Helper()
	s := r.sides[i]
	e := &end{side: s, rq: s.rq, reads: make(map[uint64]verbs.Status)}
	if len(s.ends) == maxEnds {
		r.t.Fatalf("%s has %d queue pairs already", s.name, maxEnds)
	}
	var err error
	if e.rq == nil {
		if e.rq, err = s.newRQ(false); err != nil {
			r.t.Fatal(err)
		}
	}
	e.qp, err = s.dev.NewQP(verbs.QPConfig{SendCQ: s.scq, RecvCQ: s.rcq, RQ: e.rq, Depth: s.shape.depth, Inline: s.shape.inline})
	if err != nil {
		r.t.Fatalf("%s: NewQP: %v", s.name, err)
	}
	r.label++
	e.label = r.label
	e.seed = mix(r.seed, uint64(e.label))
	e.stride = (s.shape.slotSize + 63) &^ 63
	if e.slab, _, err = s.buffer(slabDepth * s.shape.depth * e.stride); err != nil {
		r.t.Fatal(err)
	}
	s.ends = append(s.ends, e)
	return e
}

// join makes two unconnected queue pairs that know of each other.
func (r *rig) join(i, j int) (a, b *end) {
	r.t.Helper()
	a, b = r.newEnd(i), r.newEnd(j)
	a.peer, b.peer = b, a
	return a, b
}

// connect makes a queue pair on side i and one on side j, connected.
func (r *rig) connect(i, j int) (a, b *end) {
	r.t.Helper()
	a, b = r.join(i, j)
	r.dial(a)
	r.dial(b)
	return a, b
}

// dial calls Connect, towards e's peer.
func (r *rig) dial(e *end) {
	r.t.Helper()
	if err := e.qp.Connect(e.peer.side.dev.Addr(), e.label, e.peer.label); err != nil {
		r.t.Fatalf("%v: Connect: %v", e, err)
	}
}

// ping sends a message each way and waits for both: the connection stands.
func (r *rig) ping(a, b *end) {
	r.t.Helper()
	a.plan(spec{data: 8, flags: verbs.Signaled})
	b.plan(spec{data: 8, flags: verbs.Signaled})
	r.exchange(a, b)
}

// exchange sends what is planned on the ends and waits until it has arrived
// and every signaled send is complete.
func (r *rig) exchange(ends ...*end) {
	r.t.Helper()
	for _, e := range ends {
		e.auto = true
	}
	r.until("everything planned to arrive", func() bool {
		for _, e := range ends {
			if !e.finished() || !e.peer.finished() {
				return false
			}
		}
		return true
	})
	for _, e := range ends {
		e.auto = false
	}
}

// finished says that all that was planned is posted, and has arrived, and that
// the signaled part of it is complete.
func (e *end) finished() bool {
	return e.posted == len(e.out) && e.complete() && e.peer.received == len(e.out)
}

// complete says that no signaled send is still to complete.
func (e *end) complete() bool {
	for i := e.covered; i < e.posted; i++ {
		if e.out[i].flags&verbs.Signaled != 0 {
			return false
		}
	}
	return true
}

// check fails the test on an error.
func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.state())
	}
}

// state says who waits for whom.
func (r *rig) state() string {
	var s string
	for _, side := range r.sides {
		s += side.state()
	}
	return s
}

func (s *side) state() string {
	out := fmt.Sprintf("  side %s: %d turns, idle %v, holds %d slots, OpLow %d", s.name, s.turns, s.idle, len(s.held), s.lows)
	if s.rq != nil {
		out += fmt.Sprintf(", shared queue: %d of %d posted", s.rq.Posted(), s.shape.slots)
	}
	out += "\n"
	for _, e := range s.ends {
		out += fmt.Sprintf("    %v: planned %d, posted %d (last error: %v, ErrFull %d times), complete %d; reads done %d, in flight %d; received %d",
			e, len(e.out), e.posted, e.lastErr, e.fulls, e.covered, len(e.reads), e.open, e.received)
		if e.peer != nil {
			out += fmt.Sprintf(" from %v", e.peer)
		}
		if s.rq == nil {
			out += fmt.Sprintf("; %d of %d slots posted", e.rq.Posted(), s.shape.slots)
		}
		if e.isClosed {
			out += fmt.Sprintf("; closed: %v", e.closed)
		}
		out += "\n"
	}
	return out
}
