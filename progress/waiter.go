package progress

import (
	"context"
	"time"
)

// Waiter is what a goroutine waits with: for Left completions. It lives in the
// request, or in what the caller keeps for a group of requests, so that waiting
// allocates nothing. Its fields are guarded by the engine's lock.
type Waiter struct {
	Left int

	wake       chan struct{} // made when the waiter parks for the first time
	parked     bool
	driver     bool
	long       longWaiting
	then       func() // instead of a goroutine
	next, prev *Waiter
}

// Then makes w the waiter of no goroutine: after the last of Left completions f is
// called, by whoever counts it, with the lock held. f must not block; what it is
// called for may set Left again. Then itself needs no lock: it is called before the
// first use.
func (w *Waiter) Then(f func()) { w.then, w.parked = f, true }

// Done counts a completion for w, and wakes its goroutine after the last one.
// The lock is held.
func (e *Engine) Done(w *Waiter) {
	w.Left--
	if w.Left <= 0 && (w.parked || e.asleep) {
		e.wake(w)
	}
}

func (e *Engine) wake(w *Waiter) {
	if w.then != nil {
		w.then()
	} else if w.parked {
		e.others++
		e.unpark(w)
	} else if w.driver && e.asleep {
		e.kick()
	}
}

// Wait returns when w.Left completions have been counted, or with ctx's error.
// The lock is held when it is called and when it returns, and not in between.
func (e *Engine) Wait(ctx context.Context, w *Waiter) error {
	if w.Left <= 0 {
		return nil
	}
	e.waiting++
	var err error
	if e.driving || e.closed {
		err = e.wait(ctx, w)
	} else if err = e.drive(ctx, w); err == nil && w.Left > 0 {
		err = e.wait(ctx, w)
	}
	if w.long.noted {
		w.long = longWaiting{}
	}
	if e.waiting--; e.waiting == 0 && e.left != nil {
		close(e.left) // Close waits for it
		e.left = nil
	}
	return err
}

func (e *Engine) wait(ctx context.Context, w *Waiter) error {
	for w.Left > 0 {
		if e.closed {
			return ErrClosed
		}
		var err error
		if e.driving {
			err = e.park(ctx, w)
		} else {
			err = e.drive(ctx, w)
		}
		if err != nil && w.Left > 0 {
			return err
		}
	}
	return nil
}

// park waits until the waiter is done or is given the driver's role.
func (e *Engine) park(ctx context.Context, w *Waiter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.wake == nil {
		w.wake = make(chan struct{}, 1)
	}
	e.count.Parks++
	if !w.long.noted {
		w.long.note(ctx, time.Now())
	}
	e.parked.push(w)
	e.mu.Unlock()
	var err error
	select {
	case <-w.wake:
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.mu.Lock()
	if w.parked {
		e.parked.remove(w)
		return err
	}
	if err != nil {
		<-w.wake // woken and cancelled at once: take the token
	}
	if err != nil || w.Left <= 0 {
		// The role may have come with the token, and w won't drive: it is
		// cancelled, or somebody's Poll has completed it meanwhile.
		e.handOver()
	}
	return err
}

func (e *Engine) unpark(w *Waiter) {
	e.parked.remove(w)
	w.wake <- struct{}{} // has room: one token per parking
}

// handOver gives the driver's role, which nobody has, to one of those that are
// parked.
func (e *Engine) handOver() {
	if e.driving || e.parked.head == nil {
		return
	}
	e.count.HandOvers++
	e.unpark(e.parked.head)
}

// waiterList is a doubly linked list, first come first.
type waiterList struct{ head, tail *Waiter }

func (l *waiterList) push(w *Waiter) {
	w.parked = true
	w.prev, w.next = l.tail, nil
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
}

func (l *waiterList) remove(w *Waiter) {
	if w.prev == nil {
		l.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev, w.parked = nil, nil, false
}
