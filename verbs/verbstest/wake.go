package verbstest

import (
	"runtime"
)

// waker waits for a side's armed events.
type waker struct {
	r    *rig
	side *side
	fds  []int
}

// newWaker skips the test where events can't be seen.
func newWaker(r *rig, s *side) *waker {
	r.t.Helper()
	w := &waker{r: r, side: s, fds: s.dev.WakeFDs()}
	switch {
	case len(w.fds) == 0 && r.net.Woken == nil:
		r.t.Skip("the device has no wake descriptors, and the harness has no Woken")
	case len(w.fds) > 0 && !canPoll:
		r.t.Skip("no poll(2) on this system")
	}
	return w
}

// woken says whether an armed event has happened.
func (w *waker) woken() bool {
	if len(w.fds) == 0 {
		return w.r.net.Woken(w.side.dev)
	}
	ok, err := readable(w.fds)
	if err != nil {
		w.r.t.Fatalf("poll of %s's wake descriptors %v: %v", w.side.name, w.fds, err)
	}
	return ok
}

// wait takes turns, which must leave the waker's side alone, until it is
// woken.
func (w *waker) wait(what string, turn func()) {
	w.r.t.Helper()
	for p := w.r.newPacer(w.r.sides...); !w.woken(); {
		turn()
		if !p.next() {
			w.r.t.Fatalf("%s is armed and nothing wakes it after %v: %s\n%s", w.side.name, w.r.limit, what, w.r.state())
		}
	}
}

// quiet takes turns for a while and fails if the side is woken.
func (w *waker) quiet(what string, turn func()) {
	w.r.t.Helper()
	w.r.settleWith(func() {
		turn()
		if w.woken() {
			w.r.t.Fatalf("%s was woken: %s\n%s", w.side.name, what, w.r.state())
		}
		runtime.Gosched()
	})
}
