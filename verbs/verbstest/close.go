package verbstest

import (
	"errors"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

var closeTests = []test{
	{"ClosedAfterAll", testClosedAfterAll},
	{"CloseFlushes", testCloseFlushes},
	{"PeerCloseFlushes", testPeerCloseFlushes},
	{"CloseDuringUse", testCloseDuringUse},
	{"CloseOneOfMany", testCloseOneOfMany},
	{"CloseTwice", testCloseTwice},
	{"CloseUnconnected", testCloseUnconnected},
	{"PostAfterClosed", testPostAfterClosed},
	{"PeerDeath", testPeerDeath},
}

// leave ends a's half of a connection: its queue pair, or its whole device.
func leave(r *rig, e *end, device bool) {
	r.t.Helper()
	if !device {
		r.check(e.qp.Close())
		return
	}
	e.side.idle = true // its queues will be gone
	if r.net.Step != nil {
		r.check(e.side.dev.Close())
		return
	}
	// A device may wait for room at its peers, which are other processes in life: they
	// go on while it does. At first they stand still, as before, and see all of it at once.
	closed := make(chan error, 1)
	go func() { closed <- e.side.dev.Close() }()
	select {
	case err := <-closed:
		r.check(err)
		return
	case <-time.After(closesAlone):
	}
	r.until("the device to close", func() bool {
		select {
		case err := <-closed:
			r.check(err)
			return true
		default:
			return false
		}
	})
}

// closesAlone is how long a device has for closing before its peers are polled.
const closesAlone = 10 * time.Millisecond

// expectClosed waits for OpClosed and for the end of all that e had posted,
// and checks that nothing comes after.
func expectClosed(r *rig, e *end, want ...verbs.Status) {
	r.t.Helper()
	r.until("OpClosed", func() bool { return e.isClosed })
	r.until("the end of every posted request", func() bool { return e.complete() && e.open == 0 })
	ok := false
	for _, st := range want {
		ok = ok || e.closed == st
	}
	if !ok {
		r.t.Errorf("%v: closed with %v, want %v", e, e.closed, want)
	}
	r.settle()
}

// OpClosed is the last completion, once, after everything that was sent.
func testClosedAfterAll(t *testing.T, h Harness) {
	for _, device := range []bool{false, true} {
		r, a, b := newPair(t, h, shape{slots: 32})
		a.tolerant, b.tolerant = true, true
		r.ping(a, b)
		rng := newRand(r.seed)
		b.side.idle = true
		for range 30 {
			s := randomSpec(rng, a)
			s.flags |= verbs.Signaled
			a.plan(s)
		}
		a.auto = true
		waitTurns(r, func() bool { return a.covered == len(a.out) }, b.side)
		leave(r, a, device)
		b.side.idle = false
		expectClosed(r, b, verbs.StatusPeerClosed)
		if len(a.failed) == 0 && b.received != len(a.out) {
			t.Errorf("%d of %d messages arrived before OpClosed, and all had completed", b.received, len(a.out))
		}
	}
}

// waitTurns waits for cond with a side idle; a device may need that side, and
// gets it after a while.
func waitTurns(r *rig, cond func() bool, idle *side) {
	r.t.Helper()
	turns := 0
	r.until("the sends to complete", func() bool {
		if turns++; turns > 2*settleTurns {
			idle.idle = false
		}
		return cond()
	})
}

// load posts sends and reads until the queue is full, with b away.
func load(r *rig, a, b *end) {
	r.t.Helper()
	r.ping(a, b)
	src := r.newSource(1, 1<<20)
	a.tolerant, b.tolerant = true, true
	b.side.idle, a.side.idle = true, true
	for range 4 {
		if err := r.newTarget(a, len(src.mem), 0).tryFrom(src); err != nil && !errors.Is(err, verbs.ErrFull) {
			r.check(err)
		}
		for i := range 6 {
			s := spec{data: 2000}
			if i%2 == 0 {
				s.flags |= verbs.Signaled
			}
			a.plan(s)
		}
		r.check(a.post(len(a.out)))
	}
	for range 5 {
		r.turn()
	}
}

func (tg *target) tryFrom(src *source) error { return tg.try(src.at(0)) }

// Closing a queue pair completes everything that it had taken, once.
func testCloseFlushes(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{depth: 16, slots: 4})
	load(r, a, b)
	leave(r, a, false)
	a.side.idle = false
	r.until("the flush of what was posted", func() bool { return a.complete() && a.open == 0 })
	b.side.idle = false
	expectClosed(r, b, verbs.StatusPeerClosed)
	r.settle()
}

// So does the peer's leaving.
func testPeerCloseFlushes(t *testing.T, h Harness) {
	for _, device := range []bool{false, true} {
		r, a, b := newPair(t, h, shape{depth: 16, slots: 4})
		load(r, a, b)
		leave(r, b, device)
		a.side.idle = false
		expectClosed(r, a, verbs.StatusPeerClosed)
	}
}

// A peer that leaves at any moment: everything ends, and what arrives is whole
// and in order.
func testCloseDuringUse(t *testing.T, h Harness) {
	for round := range 12 {
		r, a, b := newPair(t, h, shape{depth: 8, slots: 8})
		rng := newRand(r.seed + uint64(round))
		for range 300 {
			a.plan(randomSpec(rng, a))
			b.plan(randomSpec(rng, b))
		}
		src := r.newSource(1, 1<<20)
		if round > 0 {
			r.ping(a, b)
		}
		a.tolerant, b.tolerant = true, true
		a.auto, b.auto = true, true
		for range rng.IntN(60) {
			r.turn()
		}
		_ = r.newTarget(a, len(src.mem), 0).tryFrom(src)
		for range rng.IntN(60) {
			r.turn()
		}
		b.auto = false
		leave(r, b, round%2 == 0)
		if round == 0 {
			// The connection may not have stood: any error will do.
			expectClosed(r, a, verbs.StatusPeerClosed, verbs.StatusRefused, verbs.StatusPeerDead, verbs.StatusRetry)
			continue
		}
		expectClosed(r, a, verbs.StatusPeerClosed)
	}
}

// The end of one connection leaves the others alone.
func testCloseOneOfMany(t *testing.T, h Harness) {
	for _, device := range []bool{false, true} {
		r := newRig(t, h, 3, shape{})
		a, ca := r.connect(0, 2)
		b, cb := r.connect(1, 2)
		b2, cb2 := r.connect(1, 2)
		r.ping(a, ca)
		r.ping(b, cb)
		r.ping(b2, cb2)
		a.tolerant, ca.tolerant = true, true
		leave(r, a, device)
		for range 50 {
			b.plan(spec{data: 500})
			cb2.plan(spec{data: 500})
		}
		r.exchange(b, cb2)
		expectClosed(r, ca, verbs.StatusPeerClosed)
		r.ping(b, cb)
		b.tolerant, cb.tolerant = true, true
		leave(r, cb, false)
		expectClosed(r, b, verbs.StatusPeerClosed)
		r.ping(b2, cb2)
	}
}

// Closing something again does no harm.
func testCloseTwice(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	a.tolerant, b.tolerant = true, true
	src := r.newSource(0, 100)
	extra, err := a.side.dev.NewCQ(8)
	r.check(err)
	for _, c := range []struct {
		what  string
		close func() error
	}{{"MR", src.mr.Close}, {"CQ", extra.Close}, {"QP", a.qp.Close}, {"Device", a.side.dev.Close}} {
		if err := c.close(); err != nil {
			t.Errorf("%s.Close: %v", c.what, err)
		}
		if err := c.close(); err != nil && !errors.Is(err, verbs.ErrClosed) {
			t.Errorf("%s.Close for the second time: %v", c.what, err)
		}
	}
	a.side.idle = true
	expectClosed(r, b, verbs.StatusPeerClosed)
}

// What was never connected can be closed.
func testCloseUnconnected(t *testing.T, h Harness) {
	r := newRig(t, h, 2, shape{})
	a, _ := r.join(0, 1)
	b, _ := r.join(0, 1)
	r.dial(b)
	for _, e := range []*end{a, b} {
		e.tolerant = true
		if err := e.qp.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	r.settle()
	x, y := r.connect(0, 1)
	r.ping(x, y)
}

// A queue pair whose peer is gone refuses requests, or takes and flushes them.
func testPostAfterClosed(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	a.tolerant, b.tolerant = true, true
	leave(r, b, true)
	expectClosed(r, a, verbs.StatusPeerClosed)
	a.plan(spec{data: 8, flags: verbs.Signaled})
	n, err := a.postWRs([]verbs.SendWR{a.request(len(a.out) - 1)})
	a.posted += n
	if err != nil && !errors.Is(err, verbs.ErrState) && !errors.Is(err, verbs.ErrClosed) {
		t.Errorf("PostSend to a closed queue pair: %v, want ErrState", err)
	}
	r.until("the flush of what was posted", a.complete)
	if n > 0 && len(a.failed) == 0 {
		t.Error("a send to a peer that is gone succeeded")
	}
}

// A peer that dies without a word.
func testPeerDeath(t *testing.T, h Harness) {
	for _, busy := range []bool{false, true} {
		r, a, b := newPair(t, h, shape{depth: 8, slots: 4})
		if r.net.Kill == nil {
			t.Skip("the harness can't kill a device")
		}
		r.ping(a, b)
		a.tolerant = true
		if busy {
			load(r, a, b)
		}
		b.side.idle, a.side.idle = true, false
		r.net.Kill(1)
		expectClosed(r, a, verbs.StatusPeerDead, verbs.StatusRetry)
	}
}
