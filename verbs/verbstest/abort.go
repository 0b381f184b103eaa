package verbstest

import (
	"bytes"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var abortTests = []test{
	{"AbortRead", testAbortRead},
	{"AbortQueued", testAbortQueued},
	{"AbortIdleTarget", testAbortIdleTarget},
	{"AbortUnknown", testAbortUnknown},
}

// aborted waits for an aborted read. From its completion on the memory is the
// caller's: what is stored there stays.
func aborted(r *rig, tg *target, src *source, off int) verbs.Status {
	r.t.Helper()
	r.wait(tg)
	st := tg.status()
	switch st {
	case verbs.StatusOK:
		r.arrived(tg, src, off)
	case verbs.StatusAborted:
		r.check(tg.guards())
	default:
		r.t.Fatalf("an aborted read ended with %v", st)
	}
	scribble(tg.all)
	return st
}

// quietAfter checks that nothing is written after the completion.
func quietAfter(r *rig, tgs ...*target) {
	r.t.Helper()
	r.settle()
	for _, tg := range tgs {
		if n := bytes.Count(tg.all, []byte{0xee}); n != len(tg.all) {
			r.t.Fatalf("%v: %d bytes were written after the aborted read's completion", tg.end, len(tg.all)-n)
		}
	}
}

func testAbortRead(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 2<<20)
	early := 0
	for _, turns := range []int{0, 1, 2, 3, 5, 8, 13, 30, 70, 150, 400} {
		tg := r.read(a, src, 1, len(src.mem)-1, 0)
		for range turns {
			r.turn()
		}
		a.abort(tg.id)
		if aborted(r, tg, src, 1) == verbs.StatusAborted {
			early++
		}
		quietAfter(r, tg)
		// The queue pair goes on.
		r.ping(a, b)
		r.arrived(r.read(a, src, 0, 5000, 0), src, 0)
	}
	t.Logf("%d of 11 reads ended early", early)
}

// Reads ahead of an aborted one and behind it complete.
func testAbortQueued(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 1<<20)
	var tgs []*target
	for i := range 6 {
		tgs = append(tgs, r.read(a, src, i, len(src.mem)-i, 0))
	}
	for _, i := range []int{4, 1, 5} {
		a.abort(tgs[i].id)
	}
	for _, i := range []int{0, 2, 3} {
		r.arrived(tgs[i], src, i)
	}
	for _, i := range []int{1, 4, 5} {
		aborted(r, tgs[i], src, i)
	}
	quietAfter(r, tgs[1], tgs[4], tgs[5])
	r.ping(a, b)
}

// The end of an aborted read doesn't wait for a target that isn't driven.
func testAbortIdleTarget(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 4<<20)
	b.side.idle = true
	tg := r.read(a, src, 0, len(src.mem), 0)
	for range 5 {
		r.turn()
	}
	a.abort(tg.id)
	aborted(r, tg, src, 0)
	quietAfter(r, tg)
	b.side.idle = false
	quietAfter(r, tg)
	r.ping(a, b)
}

// Abort of what is not there, or is over, does nothing.
func testAbortUnknown(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	a.qp.Abort(readTag)
	r.ping(a, b)
	a.qp.Abort(readTag + 7)
	src := r.newSource(1, 1000)
	tg := r.read(a, src, 0, 1000, 0)
	r.arrived(tg, src, 0)
	a.abort(tg.id)
	a.qp.Abort(0)
	r.settle()
	r.ping(a, b)
	r.arrived(r.read(a, src, 0, 1000, 0), src, 0)
}
