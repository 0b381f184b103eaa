//go:build !linux

package progress

import (
	"context"
	"runtime"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Without epoll there are no wake descriptors to wait on: the driver of an engine
// that doesn't sleep on channels looks again every millisecond, or when it is
// kicked.
type sleeper struct{ kicked chan struct{} }

func (s *sleeper) open() error {
	s.kicked = make(chan struct{}, 1)
	return nil
}
func (s *sleeper) close()                 {}
func (s *sleeper) add(verbs.Device) error { return nil }

const nap = time.Millisecond

func (e *Engine) sleepOnDescriptors(ctx context.Context, w *Waiter) error {
	e.count.Sleeps++
	e.asleep = true
	e.mu.Unlock()
	t := time.NewTimer(nap)
	select {
	case <-e.sleeper.kicked:
	case <-ctx.Done():
	case <-t.C:
	}
	t.Stop()
	e.mu.Lock()
	e.asleep = false
	e.resumeBackground()
	e.count.Wakes++
	if w.Left <= 0 {
		return nil
	}
	return ctx.Err()
}

func (s *sleeper) kick() {
	select {
	case s.kicked <- struct{}{}:
	default:
	}
}

func yieldThread() { runtime.Gosched() }

type parker struct{}

func (*parker) open() error { return nil }
func (*parker) close()      {}

// backgroundOnDescriptors polls once: the background goroutine's tick is the interval.
func (e *Engine) backgroundOnDescriptors() { e.poll() }
func (e *Engine) disarmOnDescriptors()     {}
