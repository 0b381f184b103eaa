package progress

import (
	"context"
	"runtime"
	"time"
)

// How long a driver that finds nothing spins and yields before it sleeps. A
// wake-up across cores costs 25–100 µs, so sleeping comes late.
const (
	spinOwned  = 20 * time.Microsecond  // where the rank has its core to itself
	spinShared = 1 * time.Microsecond   // where others wait for it
	yieldFor   = 200 * time.Microsecond // in all
	longWait   = 2 * time.Millisecond   // a sleep of more makes the next waits yield less
	spinRound  = 256                    // looks between two polls, at which the clock is read

	glancePolls = 48 // with the lock held, some 250 ns: less than a poll that copies 8 KiB

	// goschedRounds is how many rounds of looks pass before other goroutines
	// are let run.
	goschedRounds = 4
)

// drive polls until the waiter is done. The lock is held, and free while
// nothing is found. It is the hot loop: what costs more is in functions of its
// own, which are not inlined.
func (e *Engine) drive(ctx context.Context, w *Waiter) (err error) {
	e.driving, w.driver = true, true
	e.drives++
	e.disarmBackground()
	var idle idle
	for err == nil {
		e.others = 0
		n := e.poll()
		if n == 0 && !idle.glanced {
			n = e.glance(&idle, w)
		}
		switch {
		case w.Left <= 0:
			e.waits.note(&idle)
			e.driving, w.driver = false, false
			e.handOver()
			return nil
		case n > 0 || e.others > 0:
			err = e.breathe(ctx)
			idle.rounds = 0
		default:
			err = e.idle(ctx, w, &idle)
		}
	}
	e.driving, w.driver = false, false
	e.handOver()
	return err
}

// glance polls for a moment with the lock held, once in a wait: the answer to what
// was just sent is often there before the lock could be given away and taken again.
// A single queue is polled without a look first: what it has is found some 5 ns
// sooner.
func (e *Engine) glance(i *idle, w *Waiter) int {
	i.glanced = true
	if !e.lone {
		return e.glanceAround(w)
	}
	for range glancePolls {
		if n := e.poll(); n > 0 || w.Left <= 0 {
			return n
		}
	}
	return 0
}

// breathe gives the lock away for a moment, between polls that find something:
// others may want it, and those whose requests are done may want this core. What
// happens meanwhile is seen by the next poll.
//
//go:noinline
func (e *Engine) breathe(ctx context.Context) error {
	done := e.others > 0
	e.mu.Unlock()
	if done {
		runtime.Gosched()
	}
	e.mu.Lock()
	if e.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// idle waits for a while, after a poll that found nothing.
//
//go:noinline
func (e *Engine) idle(ctx context.Context, w *Waiter, i *idle) error {
	if e.closed {
		return ErrClosed
	}
	if i.looked { // the first time costs no more than it must
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	i.looked = true
	phase := e.phase(i)
	if phase == phaseSleep {
		before := time.Now()
		if !w.long.noted {
			w.long.note(ctx, before)
		}
		if err := e.sleep(ctx, w); err != nil {
			return err
		}
		i.slept = time.Since(before) > longWait
		i.rounds = 0
		return nil
	}
	e.looking = true
	e.mu.Unlock()
	found := false
	if phase == phaseSpin {
		found = e.spin(i.rounds%goschedRounds == 0)
	} else {
		gosched()
		yieldThread()
		found = e.lookAll()
	}
	if found {
		// Perhaps not a completion, but something that moves, like a read that
		// is being served: no reason to yield.
		i.rounds = 0
	}
	e.mu.Lock()
	e.looking = false
	return nil
}

// spin looks at the queues, without the lock, until there is something or a
// round is over. It says which.
func (e *Engine) spin(yield bool) (found bool) {
	if !e.lone {
		found = e.spinAround()
	} else {
		for range spinRound {
			if e.somethingPending() {
				return true
			}
		}
	}
	if yield && !found {
		gosched()
	}
	return found
}

// gosched lets other goroutines run where there is only one processor for all of
// them. Elsewhere they have their own, and Gosched would do harm: it wakes an idle
// processor's thread, on this very core if the rank is bound to it, which then
// takes this goroutine over.
func gosched() {
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.Gosched()
	}
}

// idle is how long the present wait has found nothing.
type idle struct {
	rounds int
	since  time.Time
	slept  bool // for long
	looked bool // at the context, from now on

	glanced bool
}

type phase uint8

const (
	phaseSpin phase = iota
	phaseYield
	phaseSleep
)

// phase says how to go on waiting.
func (e *Engine) phase(i *idle) phase {
	i.rounds++
	if i.rounds == 1 {
		return phaseSpin // the clock can wait
	}
	if e.chans.on() {
		return phaseSleep // the clock may stand still
	}
	now := time.Now()
	if i.rounds == 2 {
		i.since = now
	}
	spinFor := spinShared
	if e.cfg.OwnCore {
		spinFor = spinOwned
	}
	d := now.Sub(i.since)
	switch {
	case d < spinFor:
		return phaseSpin
	case d < yieldFor && !e.waits.long():
		return phaseYield
	}
	return phaseSleep
}

// recentWaits remembers whether waits were long of late: then yielding first is
// in vain.
type recentWaits struct{ slept int }

func (r *recentWaits) note(i *idle) {
	if i.slept {
		r.slept = min(r.slept+1, 4)
	} else if i.rounds > 0 {
		r.slept = 0
	}
}

func (r *recentWaits) long() bool { return r.slept >= 4 }
