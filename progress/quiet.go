package progress

import (
	"context"
	"time"
)

// How long the driver sleeps before it is reported to be quiet, for the first time
// and at most between one time and the next.
const (
	quietAfter = 2 * time.Second
	quietMost  = 32 * time.Second
)

// longWaiting is what is known of a wait that takes long: noted when its goroutine
// goes to sleep or parks, so that short waits cost nothing.
type longWaiting struct {
	noted bool
	ends  bool // its context has a deadline
	since time.Time
}

func (l *longWaiting) note(ctx context.Context, now time.Time) {
	l.noted, l.since = true, now
	if ctx.Done() != nil {
		_, l.ends = ctx.Deadline()
	}
}

// Long says since when w's goroutine has been waiting, and whether its context
// ends the wait at some time. It is false for a wait that has been short so far.
// The lock is held.
func (w *Waiter) Long() (since time.Time, ends, long bool) {
	return w.long.since, w.long.ends, w.long.noted
}

// WatchQuiet has report called, without the lock, when the driver has slept for
// some seconds without waking, and again while it goes on sleeping, less and less
// often. A driver that wakes up more often costs nothing. Call it once, before
// anybody waits.
func (e *Engine) WatchQuiet(report func()) error {
	e.mu.Lock()
	e.back.quiet = report
	started := e.back.stop != nil
	e.mu.Unlock()
	if started {
		return nil
	}
	return e.startBackground()
}

// Asleep says whether the driver sleeps and nothing has come for it. The lock is
// held.
func (e *Engine) Asleep() bool { return e.asleep && !e.somethingPending() }

// awaitResume waits until the driver has woken up; false: the engine is closed.
func (e *Engine) awaitResume(report func()) bool {
	if report == nil {
		select {
		case <-e.back.stop:
			return false
		case <-e.back.resume:
			return true
		}
	}
	wait := quietAfter
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-e.back.stop:
			return false
		case <-e.back.resume:
			return true
		case <-timer.C:
			report()
			wait = min(2*wait, quietMost)
			timer.Reset(wait)
		}
	}
}
