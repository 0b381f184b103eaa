package verbstest

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var viewTests = []test{
	{"ViewsHeld", testViewsHeld},
	{"ViewsOfOnePoll", testViewsOfOnePoll},
	{"ViewsDontOverlap", testViewsDontOverlap},
}

// Views stay as they are while more arrives, until their slots are reposted.
func testViewsHeld(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 24})
	r.ping(a, b)
	rng := newRand(r.seed)
	for range 600 {
		a.plan(randomSpec(rng, a))
	}
	a.auto, b.hold = true, true
	for p := r.newPacer(r.sides...); !a.finished(); {
		r.turn()
		for len(b.side.held) > 20 {
			at := rng.IntN(len(b.side.held))
			m := b.side.held[at]
			b.side.held = append(b.side.held[:at], b.side.held[at+1:]...)
			r.check(b.side.release(m))
		}
		if p.turns%16 == 0 {
			for _, m := range b.side.held {
				r.check(m.check())
			}
		}
		if !p.next() {
			t.Fatalf("not all arrives\n%s", r.state())
		}
	}
	r.check(b.side.releaseAll())
}

// Views of messages without a slot are good until the next Poll, all those of
// one Poll together, whatever arrives in the meantime and whatever is posted.
func testViewsOfOnePoll(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{depth: 32})
	r.ping(a, b)
	size := b.side.attr.InlineRecv
	if size == 0 {
		t.Skip("every message takes a slot on this device")
	}
	for i := range 400 {
		a.plan(spec{data: 1 + i%size})
	}
	a.auto = true
	comps := make([]verbs.Completion, 7)
	for p := r.newPacer(r.sides...); b.received < len(a.out); {
		b.side.idle = true
		r.turn()
		n := b.side.rcq.Poll(comps)
		b.plan(spec{data: 3})
		r.check(b.post(len(b.out)))
		for range 10 {
			r.turn() // polls a only: more arrives
		}
		for i := range comps[:n] {
			r.check(b.side.file(&comps[i]))
		}
		b.side.idle = false
		r.check(b.side.pollCQ(b.side.scq))
		if !p.next() {
			t.Fatalf("not all arrives\n%s", r.state())
		}
	}
	r.exchange(a, b)
}

// Slots don't share memory: views as long as the slot, all at once.
func testViewsDontOverlap(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 16, slotSize: 1000, depth: 16})
	r.ping(a, b)
	b.hold = true
	for range 16 {
		a.plan(spec{data: a.side.shape.slotSize})
	}
	r.exchange(a)
	for _, m := range b.side.held {
		r.check(m.check())
	}
	for _, m := range b.side.held {
		scribble(m.view)
		for _, o := range b.side.held {
			if o != m {
				r.check(o.check())
			}
		}
		fill(m.view, a.seedOf(m.at))
	}
	r.check(b.side.releaseAll())
}
