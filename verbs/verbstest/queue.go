package verbstest

import (
	"errors"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var queueTests = []test{
	{"Unsignaled", testUnsignaled},
	{"Full", testFull},
	{"FullEvent", testFullEvent},
}

// Unsignaled sends complete silently: only the signaled ones are reported, and
// the last of them says that all before it are done.
func testUnsignaled(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{depth: 16})
	a.manual = true
	for i := range 20 * 16 {
		s := spec{data: i % 200}
		if i%8 == 7 {
			s.flags |= verbs.Signaled
		}
		a.plan(s)
	}
	r.exchange(a, b)
	if a.covered != len(a.out) {
		t.Errorf("the last signaled send covers %d of %d", a.covered, len(a.out))
	}
}

// fillUp posts until the queue says that it is full, while b's side is away.
// It leaves a's side idle too.
func fillUp(r *rig, a, b *end, s spec) {
	r.t.Helper()
	r.ping(a, b)
	b.side.idle = true
	const limit = 1 << 20 // there are devices with megabytes of buffers between the two
	fulls := a.fulls
	r.until("ErrFull", func() bool {
		for a.fulls == fulls {
			if len(a.out) > limit {
				r.t.Fatalf("the queue took %d messages that nobody received\n%s", len(a.out), r.state())
			}
			if a.posted == len(a.out) {
				a.plan(s)
			}
			before := a.posted
			r.check(a.post(len(a.out)))
			if a.posted == before {
				break // there is no more memory to build messages: complete some
			}
		}
		return a.fulls > fulls
	})
	a.side.idle = true
}

// A full queue takes nothing; what it refused is posted later, and nothing is
// lost or doubled.
func testFull(t *testing.T, h Harness) {
	for _, s := range []spec{{data: 8, flags: verbs.Inline | verbs.Signaled}, {data: 2000, flags: verbs.Signaled}} {
		r, a, b := newPair(t, h, shape{depth: 8, slots: 8})
		fillUp(r, a, b, s)
		for range 10 {
			a.plan(s)
			r.check(a.post(len(a.out)))
		}
		a.side.idle, b.side.idle = false, false
		r.exchange(a)
		r.ping(a, b)
	}
}

// After ErrFull an armed send completion queue announces room.
func testFullEvent(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{depth: 8, slots: 8})
	w := newWaker(r, a.side)
	fillUp(r, a, b, spec{data: 1000, flags: verbs.Signaled})
	for round := range 20 {
		a.plan(spec{data: 1000, flags: verbs.Signaled})
		for p := r.newPacer(r.sides...); a.posted < len(a.out); {
			a.lastErr = nil
			r.check(a.post(len(a.out)))
			if a.posted == len(a.out) {
				break
			}
			if !errors.Is(a.lastErr, verbs.ErrFull) {
				t.Fatalf("PostSend: %v, want ErrFull", a.lastErr)
			}
			again := a.side.scq.Arm(verbs.Any)
			if !again {
				b.side.idle = false
				w.wait("room in the send queue", r.turn)
			}
			a.side.idle = false
			r.check(a.side.poll())
			a.side.idle, b.side.idle = true, true
			if !p.next() {
				t.Fatalf("round %d: woken many times, and never room\n%s", round, r.state())
			}
		}
	}
	a.side.scq.Arm(verbs.None)
	a.side.idle, b.side.idle = false, false
	r.exchange(a)
}
