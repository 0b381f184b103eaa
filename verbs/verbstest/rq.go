package verbstest

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var rqTests = []test{
	{"SharedQueue", testSharedQueue},
	{"PerPeerQueues", testPerPeerQueues},
	{"Posted", testPosted},
	{"LowWatermark", testLowWatermark},
}

// gather has three peers send to one side at the same time, through slots
// that are fewer than the messages.
func gather(t *testing.T, h Harness, sh shape) {
	t.Helper()
	r := newRig(t, h, 4, sh)
	rng := newRand(r.seed)
	var ends []*end
	for i := range 3 {
		e, back := r.connect(i, 3)
		for range 200 {
			e.plan(randomSpec(rng, e))
			if rng.IntN(4) == 0 {
				back.plan(randomSpec(rng, back))
			}
		}
		ends = append(ends, e, back)
	}
	r.exchange(ends...)
	r.settle()
	for _, e := range ends[1:2] {
		if n := e.rq.Posted(); n != e.side.shape.slots {
			t.Errorf("%v: %d slots posted at rest, want %d", e, n, e.side.shape.slots)
		}
	}
}

func testSharedQueue(t *testing.T, h Harness)   { gather(t, h, shape{slots: 10}) }
func testPerPeerQueues(t *testing.T, h Harness) { gather(t, h, shape{slots: 4, perPeer: true}) }

// Posted follows what is taken and given back.
func testPosted(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 12})
	r.ping(a, b)
	r.until("all slots to be posted", func() bool { return b.rq.Posted() == 12 })
	b.hold = true
	for i := range 8 {
		a.plan(spec{data: needsSlot(b.side)})
		r.exchange(a)
		if got := b.rq.Posted(); got != 11-i {
			t.Errorf("%d posted, want %d with %d held", got, 11-i, i+1)
		}
	}
	var slots []verbs.Slot
	for _, m := range b.side.held {
		r.check(m.check())
		slots = append(slots, m.slot)
	}
	b.side.held = nil
	b.rq.Repost(slots[:3])
	b.rq.Repost(nil)
	if got := b.rq.Posted(); got != 7 {
		t.Errorf("%d posted, want 7", got)
	}
	b.rq.Repost(slots[3:])
	r.until("all slots to be posted", func() bool { return b.rq.Posted() == 12 })
}

// OpLow comes once when fewer than Low slots are posted, and again only after
// a Repost has crossed the mark.
func testLowWatermark(t *testing.T, h Harness) {
	for _, perPeer := range []bool{false, true} {
		r, a, b := newPair(t, h, shape{slots: 12, low: 5, perPeer: perPeer})
		r.ping(a, b)
		r.settle()
		b.hold = true
		send := func(n int) {
			for range n {
				a.plan(spec{data: needsSlot(b.side)})
			}
			r.exchange(a)
			r.settle()
		}
		release := func(n int) {
			for _, m := range b.side.held[:n] {
				r.check(b.side.release(m))
			}
			b.side.held = b.side.held[n:]
			r.settle()
		}
		lows := func(want int, when string) {
			t.Helper()
			if b.side.lows != want {
				t.Fatalf("perPeer %v: %d OpLow, want %d: %s\n%s", perPeer, b.side.lows, want, when, r.state())
			}
		}
		send(7) // 5 posted
		lows(0, "as many posted as the mark")
		send(1) // 4
		lows(1, "one below the mark")
		send(3) // 1
		lows(1, "further below")
		release(3) // 4
		lows(1, "a repost that stays below")
		send(1) // 3
		lows(1, "below again without having crossed")
		release(4) // 7
		lows(1, "a repost that crosses")
		send(2) // 5
		lows(1, "down to the mark")
		send(1) // 4
		lows(2, "below the mark for the second time")
		b.hold = false
		r.check(b.side.releaseAll())
		r.ping(a, b)
	}
}
