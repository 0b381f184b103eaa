package verbstest

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var armTests = []test{
	{"ArmAny", testArmAny},
	{"ArmSolicited", testArmSolicited},
	{"ArmMissed", testArmMissed},
	{"ArmNone", testArmNone},
	{"ArmSendCQ", testArmSendCQ},
	{"ArmSendSolicited", testArmSendSolicited},
	{"ArmClosed", testArmClosed},
	{"Pending", testPending},
}

// arm arms a completion queue of a side that is at rest: whatever it says it
// has missed is polled first. Afterwards the side is asleep, and not woken.
func (w *waker) arm(cq verbs.CQ, ev verbs.Event) {
	w.r.t.Helper()
	idle := w.side.idle
	w.side.idle = false
	for p := w.r.newPacer(w.r.sides...); ; {
		again := cq.Arm(ev)
		if !again && !w.woken() {
			break
		}
		w.r.check(w.side.poll())
		if !p.next() {
			w.r.t.Fatalf("%s: Arm says again (%v) or is woken (%v) forever, with nothing to poll\n%s", w.side.name, again, w.woken(), w.r.state())
		}
	}
	w.side.idle = idle
}

// asleep connects a pair, with B asleep and its receive queue armed.
func asleep(t *testing.T, h Harness, ev verbs.Event) (r *rig, a, b *end, w *waker) {
	t.Helper()
	r, a, b = newPair(t, h, shape{})
	w = newWaker(r, b.side)
	r.ping(a, b)
	r.settle()
	a.auto = true
	b.side.idle = true
	w.arm(b.side.rcq, ev)
	return r, a, b, w
}

// catchUp polls B until everything sent has arrived, and puts it to sleep.
func catchUp(r *rig, a, b *end) {
	r.t.Helper()
	b.side.idle = false
	r.until("the messages after the wake-up", func() bool { return b.received == len(a.out) })
	b.side.idle = true
}

// Any message wakes, of any size, again and again.
func testArmAny(t *testing.T, h Harness) {
	r, a, b, w := asleep(t, h, verbs.Any)
	for i := range 60 {
		a.plan(spec{data: i * 40 % (b.side.shape.slotSize + 1), flags: verbs.Signaled})
		w.wait("a message", r.turn)
		catchUp(r, a, b)
		w.arm(b.side.rcq, verbs.Any)
	}
	w.quiet("nothing was sent", r.turn)
}

// Plain messages don't wake a side that is armed for solicited ones; a
// solicited one does, also behind plain ones that were not polled.
func testArmSolicited(t *testing.T, h Harness) {
	r, a, b, w := asleep(t, h, verbs.Solicited)
	for range 8 {
		for i := range 4 {
			a.plan(spec{data: 100 * i, flags: verbs.Signaled})
		}
		if r.net.Unsifted {
			r.settle()
			w.arm(b.side.rcq, verbs.Solicited)
			w.quiet("by messages that were polled", r.turn)
		} else {
			w.quiet("by messages that are not solicited", r.turn)
		}
		a.plan(spec{data: 50, flags: verbs.Signaled | verbs.FlagSolicited})
		w.wait("a solicited message", r.turn)
		catchUp(r, a, b)
		w.arm(b.side.rcq, verbs.Solicited)
	}
}

// What came before the arming is either announced by again, or wakes.
func testArmMissed(t *testing.T, h Harness) {
	r, a, b, w := asleep(t, h, verbs.Any)
	again := 0
	for i := range 50 {
		b.side.rcq.Arm(verbs.None)
		a.plan(spec{data: i * 30, flags: verbs.Signaled})
		for range i { // it is on its way, or there
			r.turn()
		}
		if b.side.rcq.Arm(verbs.Any) {
			again++
		} else {
			w.wait("a message that was sent before the arming", r.turn)
		}
		catchUp(r, a, b)
		w.arm(b.side.rcq, verbs.Any)
	}
	t.Logf("again: %d of 50", again)
}

// None disarms.
func testArmNone(t *testing.T, h Harness) {
	r, a, b, w := asleep(t, h, verbs.Any)
	for range 5 {
		b.side.rcq.Arm(verbs.None)
		for range 3 {
			a.plan(spec{data: 200, flags: verbs.Signaled | verbs.FlagSolicited})
		}
		w.quiet("while it is not armed", r.turn)
		catchUp(r, a, b)
		w.arm(b.side.rcq, verbs.Any)
		a.plan(spec{data: 200, flags: verbs.Signaled})
		w.wait("a message", r.turn)
		catchUp(r, a, b)
	}
}

// The send queue wakes for completions of sends and for the ends of reads; the
// latter also when it is armed for solicited events.
func testArmSendCQ(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	w := newWaker(r, a.side)
	r.ping(a, b)
	src := r.newSource(1, 300<<10)
	a.side.idle = true
	for range 10 {
		for _, ev := range []verbs.Event{verbs.Any, verbs.Solicited} {
			w.arm(a.side.scq, ev)
			tg := r.newTarget(a, len(src.mem), 0)
			r.post(tg, src.at(0))
			if !a.side.scq.Arm(ev) {
				w.wait("the end of a read", r.turn)
			}
			a.side.idle = false
			r.arrived(tg, src, 0)
			a.side.idle = true
		}
		w.arm(a.side.scq, verbs.Any)
		a.plan(spec{data: 700, flags: verbs.Signaled})
		r.check(a.post(len(a.out)))
		if a.posted != len(a.out) {
			t.Fatalf("PostSend: %v", a.lastErr)
		}
		if !a.side.scq.Arm(verbs.Any) {
			w.wait("the completion of a send", r.turn)
		}
		a.side.idle = false
		r.exchange(a)
		a.side.idle = true
	}
}

// The completion of a send is no solicited event. (A needless wake-up or two
// is a device's right, where a bell was rung just before it was silenced.)
func testArmSendSolicited(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	w := newWaker(r, a.side)
	r.ping(a, b)
	needless := 0
	for range 8 {
		a.side.idle = true
		w.arm(a.side.scq, verbs.Solicited)
		a.plan(spec{data: 600, flags: verbs.Signaled})
		r.check(a.post(len(a.out)))
		r.settle()
		if w.woken() {
			needless++
		}
		a.side.idle = false
		r.exchange(a)
	}
	if needless > 2 {
		t.Errorf("%d of 8 completions of sends woke a queue that is armed for solicited events", needless)
	}
}

// The end of a peer wakes a side that is armed for solicited events.
func testArmClosed(t *testing.T, h Harness) {
	for _, device := range []bool{false, true} {
		r, a, b, w := asleep(t, h, verbs.Solicited)
		a.tolerant, b.tolerant = true, true
		leave(r, a, device)
		w.wait("the peer's end", r.turn)
		b.side.idle = false
		expectClosed(r, b, verbs.StatusPeerClosed)
	}
}

// Pending never says no for long when there is something, and no in the end.
func testPending(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	a.auto = true
	for i := range 40 {
		b.side.idle = true
		a.plan(spec{data: i * 50, flags: verbs.Signaled})
		r.until("Pending of a receive queue with a message", b.side.rcq.Pending)
		b.side.idle = false
		r.exchange(a)
		a.auto = true
	}
	r.until("Pending to say no of empty queues", func() bool { return !b.side.rcq.Pending() && !a.side.scq.Pending() })
}
