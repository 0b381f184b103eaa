package verbstest

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var orderTests = []test{
	{"OrderInline", testOrderInline},
	{"OrderSlot", testOrderSlot},
	{"OrderMixed", testOrderMixed},
	{"OrderOneAtATime", testOrderOneAtATime},
	{"OrderLateReceiver", testOrderLateReceiver},
}

// wraps is how many times the order tests go round the queues.
const wraps = 40

func testOrderInline(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	for range wraps * a.side.shape.depth {
		a.plan(spec{data: min(8, a.qp.Inline()), flags: verbs.Inline})
	}
	r.exchange(a, b)
}

func testOrderSlot(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 8})
	for i := range wraps * a.side.shape.depth {
		a.plan(spec{hdr: 16, data: 1000 + i%1000})
	}
	r.exchange(a, b)
}

// Random sizes and flags, both ways at once, over queues of several shapes.
func testOrderMixed(t *testing.T, h Harness) {
	for _, sh := range []shape{{}, {depth: 1, slots: 1}, {depth: 3, slots: 5}, {depth: 64, slots: 16, perPeer: true}} {
		r, a, b := newPair(t, h, sh)
		rng := newRand(r.seed)
		for range max(500, wraps*a.side.shape.depth/2) {
			a.plan(randomSpec(rng, a))
			b.plan(randomSpec(rng, b))
		}
		r.exchange(a, b)
	}
}

// Polling one completion at a time loses nothing.
func testOrderOneAtATime(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	for _, s := range r.sides {
		s.batch = 1
	}
	rng := newRand(r.seed)
	for range 500 {
		a.plan(randomSpec(rng, a))
		b.plan(randomSpec(rng, b))
	}
	r.exchange(a, b)
}

// The receiver stays away until the sender can't go on, again and again.
func testOrderLateReceiver(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 8})
	r.ping(a, b)
	rng := newRand(r.seed)
	for range 600 {
		a.plan(randomSpec(rng, a))
	}
	a.auto = true
	for range 10 {
		b.side.idle = true
		r.settle()
		b.side.idle = false
		for range 20 {
			r.turn()
		}
	}
	r.exchange(a)
}
