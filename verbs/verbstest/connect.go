package verbstest

import (
	"errors"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var connectTests = []test{
	{"ConnectEitherOrder", testConnectEitherOrder},
	{"ConnectPassive", testConnectPassive},
	{"ConnectBoth", testConnectBoth},
	{"ConnectManyPairs", testConnectManyPairs},
	{"ConnectNobody", testConnectNobody},
	{"ConnectNoLabel", testConnectNoLabel},
	{"ConnectGarbage", testConnectGarbage},
	{"PostBeforeConnect", testPostBeforeConnect},
}

// One side connects and posts long before the other knows of it.
func testConnectEitherOrder(t *testing.T, h Harness) {
	for _, late := range []int{0, 1} {
		r := newRig(t, h, 2, shape{})
		a, b := r.join(0, 1)
		early, other := a, b
		if late == 0 {
			early, other = b, a
		}
		r.dial(early)
		early.plan(spec{data: 100, flags: verbs.Signaled}, spec{hdr: 16, data: 900, flags: verbs.Signaled})
		early.auto = true
		r.settle()
		r.dial(other)
		r.exchange(early)
		r.ping(a, b)
	}
}

// A side that has called Connect and posts nothing receives.
func testConnectPassive(t *testing.T, h Harness) {
	r := newRig(t, h, 2, shape{})
	a, b := r.join(0, 1)
	r.dial(b)
	r.dial(a)
	n, err := a.qp.PostSend(nil)
	if n != 0 || err != nil && !errors.Is(err, verbs.ErrFull) {
		t.Fatalf("PostSend of no requests: %d, %v", n, err)
	}
	r.settle()
	for range 20 {
		a.plan(spec{data: 300, flags: verbs.Signaled})
	}
	r.exchange(a)
}

// Both sides start at the same time.
func testConnectBoth(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	for _, e := range []*end{a, b} {
		if _, err := e.qp.PostSend(nil); err != nil && !errors.Is(err, verbs.ErrFull) {
			t.Fatalf("%v: PostSend of no requests: %v", e, err)
		}
	}
	r.ping(a, b)
}

// Several queue pairs join the same two devices; each has its own messages.
func testConnectManyPairs(t *testing.T, h Harness) {
	r := newRig(t, h, 2, shape{})
	var ends []*end
	for range 4 {
		a, b := r.connect(0, 1)
		ends = append(ends, a, b)
	}
	rng := newRand(r.seed)
	for _, e := range ends {
		for range 50 {
			e.plan(randomSpec(rng, e))
		}
	}
	r.exchange(ends...)
}

// expectRefusal posts on e and waits for the end that its side must report.
func expectRefusal(r *rig, e *end) {
	r.t.Helper()
	e.tolerant, e.auto = true, true
	e.plan(spec{data: 8, flags: verbs.Signaled})
	r.until("the refusal of the connection", func() bool { return e.isClosed })
	r.until("the flush of what was posted", e.complete)
	if e.closed == verbs.StatusPeerClosed {
		r.t.Errorf("OpClosed says %v of a peer that never was", e.closed)
	}
	r.settle()
}

// nobody makes a peer for e that is not there.
func nobody(e *end) { e.peer = &end{side: e.side, label: 4242} }

func testConnectNobody(t *testing.T, h Harness) {
	r := newRig(t, h, 1, shape{})
	if r.net.Nobody == nil {
		t.Skip("the harness knows no address without a device")
	}
	e := r.newEnd(0)
	nobody(e)
	if err := e.qp.Connect(r.net.Nobody, e.label, 4242); err != nil {
		t.Fatalf("Connect: %v", err)
	}
	expectRefusal(r, e)
}

// The device is there, but nobody ever connects the label.
func testConnectNoLabel(t *testing.T, h Harness) {
	r := newRig(t, h, 2, shape{})
	e := r.newEnd(0)
	nobody(e)
	if err := e.qp.Connect(r.sides[1].dev.Addr(), e.label, 4242); err != nil {
		t.Fatalf("Connect: %v", err)
	}
	expectRefusal(r, e)
}

// An address that is none is refused, by Connect or later.
func testConnectGarbage(t *testing.T, h Harness) {
	for _, addr := range [][]byte{nil, {}, {1}, make([]byte, 256), []byte("/nowhere/at/all\x00\xff")} {
		r := newRig(t, h, 1, shape{})
		e := r.newEnd(0)
		nobody(e)
		if err := e.qp.Connect(addr, e.label, 4242); err != nil {
			continue
		}
		expectRefusal(r, e)
	}
}

func testPostBeforeConnect(t *testing.T, h Harness) {
	r := newRig(t, h, 2, shape{})
	a, b := r.join(0, 1)
	n, err := a.qp.PostSend([]verbs.SendWR{{ID: 1, Op: verbs.OpSend, Flags: verbs.Signaled}})
	if n != 0 || !errors.Is(err, verbs.ErrState) {
		t.Fatalf("PostSend before Connect: %d, %v; want 0, ErrState", n, err)
	}
	r.dial(a)
	r.dial(b)
	r.ping(a, b)
}
