package verbstest

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var rnrTests = []test{
	{"NoSlotWaits", testNoSlotWaits},
	{"NoSlotOneByOne", testNoSlotOneByOne},
	{"NoSlotCounted", testNoSlotCounted},
	{"NoSlotOtherPeer", testNoSlotOtherPeer},
}

// needsSlot is the size of a message that takes a slot on side s.
func needsSlot(s *side) int { return min(max(s.attr.InlineRecv+1, 256), s.shape.slotSize) }

// A sender that finds no slot waits; after the repost everything arrives, in
// order.
func testNoSlotWaits(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 4, depth: 16})
	r.ping(a, b)
	b.side.hold = true
	for range 40 {
		a.plan(spec{data: needsSlot(b.side)})
	}
	a.auto = true
	for b.received < len(a.out) {
		want := min(b.received+4, len(a.out))
		r.until("as many messages as there are slots", func() bool { return b.received == want })
		r.settle()
		if b.received != want {
			t.Fatalf("%d messages; want %d, all slots are held\n%s", b.received, want, r.state())
		}
		if n := b.rq.Posted(); n != 0 && len(b.side.held) == 4 {
			t.Fatalf("%d slots posted, all are held", n)
		}
		r.check(b.side.releaseAll())
	}
	b.side.hold = false
	r.exchange(a)
}

// Slots come back one at a time, in no order.
func testNoSlotOneByOne(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 4, depth: 8})
	r.ping(a, b)
	b.side.hold = true
	rng := newRand(r.seed)
	for range 60 {
		a.plan(spec{hdr: 16, data: needsSlot(b.side)})
	}
	a.auto = true
	for b.received < len(a.out) {
		r.until("the slots to be taken", func() bool { return len(b.side.held) == min(4, len(a.out)-b.received+len(b.side.held)) })
		at := rng.IntN(len(b.side.held))
		m := b.side.held[at]
		b.side.held = append(b.side.held[:at], b.side.held[at+1:]...)
		r.check(b.side.release(m))
	}
	r.check(b.side.releaseAll())
	b.side.hold = false
	r.exchange(a)
}

// The wait is counted, under the name "rnr", by either device.
func testNoSlotCounted(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 2})
	r.ping(a, b)
	before, ok := counters(r, "rnr")
	if !ok {
		t.Skip("the device counts nothing named rnr")
	}
	b.side.hold = true
	for range 5 {
		a.plan(spec{data: needsSlot(b.side)})
	}
	a.auto = true
	r.until("the slots to be taken", func() bool { return len(b.side.held) == 2 })
	r.settle()
	if after, _ := counters(r, "rnr"); after <= before {
		t.Errorf("rnr is %d, and was %d before sends waited for slots", after, before)
	}
	b.side.hold = false
	r.check(b.side.releaseAll())
	r.exchange(a)
}

// counters adds up the counter of a name over all sides.
func counters(r *rig, name string) (sum uint64, ok bool) {
	for _, s := range r.sides {
		c, is := s.dev.(verbs.Counted)
		if !is {
			continue
		}
		c.Counters(func(n string, v uint64) bool {
			if n == name {
				sum += v
				ok = true
			}
			return true
		})
	}
	return sum, ok
}

// A peer that has used up its own queue's slots doesn't stop another peer.
func testNoSlotOtherPeer(t *testing.T, h Harness) {
	r := newRig(t, h, 3, shape{slots: 4, perPeer: true})
	a, ca := r.connect(0, 2)
	b, cb := r.connect(1, 2)
	r.ping(a, ca)
	r.ping(b, cb)
	c := r.sides[2]
	ca.hold = true
	for range 20 {
		a.plan(spec{data: needsSlot(c)})
	}
	a.auto = true
	r.until("the flood to take the slots", func() bool { return len(c.held) == 4 })
	r.settle()
	for range 30 {
		b.plan(spec{data: needsSlot(c)})
	}
	r.exchange(b)
	ca.hold = false
	r.check(c.releaseAll())
	r.exchange(a)
}
