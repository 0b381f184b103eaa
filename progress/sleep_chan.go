package progress

import (
	"context"
	"errors"

	"github.com/verbena-mpi/verbena/verbs"
)

// chanSleeper is how an engine sleeps whose devices wake it through channels: it
// makes no system call, and reads no clock before it sleeps. Where time stands
// still until everybody sleeps (testing/synctest) spinning for a while would be
// spinning for ever.
type chanSleeper struct {
	kicked chan struct{}   // has room for one; nil in an engine that sleeps otherwise
	wake   <-chan struct{} // the device's; nil without one. Guarded by the engine's lock
	leave  chan struct{}   // has room for one: ends the background goroutine's sleep
}

func (s *chanSleeper) open() {
	s.kicked, s.leave = make(chan struct{}, 1), make(chan struct{}, 1)
}

func (s *chanSleeper) on() bool { return s.kicked != nil }

var errChannels = errors.New("progress: an engine that sleeps on channels takes one device, which has one")

func (s *chanSleeper) add(d verbs.Device) error {
	w, ok := d.(verbs.Waker)
	if !ok || s.wake != nil {
		return errChannels
	}
	s.wake = w.Wake()
	return nil
}

func (s *chanSleeper) kick() {
	select {
	case s.kicked <- struct{}{}:
	default: // it is kicked
	}
}

func (s *chanSleeper) unkick() {
	select {
	case <-s.kicked:
	default:
	}
}

// sleepOnChannels is sleep.
func (e *Engine) sleepOnChannels(ctx context.Context, w *Waiter) error {
	if !e.armAll(verbs.Any) {
		return nil
	}
	e.count.Sleeps++
	e.asleep = true
	wake := e.chans.wake
	e.mu.Unlock()
	select {
	case <-wake:
	case <-e.chans.kicked:
	case <-ctx.Done():
	}
	e.mu.Lock()
	e.asleep = false
	e.resumeBackground()
	e.chans.unkick()
	e.armAll(verbs.None)
	e.count.Wakes++
	if w.Left <= 0 {
		return nil
	}
	return ctx.Err()
}

// backgroundOnChannels is backgroundSleep.
func (e *Engine) backgroundOnChannels() {
	for !e.driving && !e.closed {
		if !e.armAll(verbs.Solicited) {
			e.poll()
			e.mu.Unlock() // as in backgroundSleep
			e.mu.Lock()
			continue
		}
		select {
		case <-e.chans.leave: // meant for an earlier sleep
		default:
		}
		e.back.armed = true
		e.count.BackgroundSleeps++
		wake := e.chans.wake
		e.mu.Unlock()
		select {
		case <-wake:
		case <-e.chans.kicked:
		case <-e.chans.leave:
		case <-e.back.stop:
		}
		e.mu.Lock()
		if !e.back.armed {
			// Somebody drives, or did, and may sleep by now: what was taken from
			// the channels was perhaps meant for them.
			if e.asleep {
				e.kick()
			}
			return
		}
		e.disarmBackground()
		e.pollAll()
	}
}

// disarmOnChannels is backgroundDisarm.
func (e *Engine) disarmOnChannels() {
	select {
	case e.chans.leave <- struct{}{}:
	default:
	}
	e.chans.unkick()
	e.armAll(verbs.None)
}

// armAll arms the queues, or disarms them. It returns false, with all disarmed,
// if something came meanwhile.
func (e *Engine) armAll(ev verbs.Event) bool {
	again := false
	for _, s := range e.recv {
		s.next()
		again = s.cq.Arm(ev) || again
	}
	if e.needs > 0 || len(e.pending) > 0 || ev == verbs.None {
		for _, s := range e.send {
			s.next()
			again = s.cq.Arm(ev) || again
		}
	}
	if again && ev != verbs.None {
		e.armAll(verbs.None)
		return false
	}
	return true
}
