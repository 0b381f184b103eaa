package progress

import (
	"context"

	"github.com/verbena-mpi/verbena/verbs"
)

// An engine sleeps on the descriptors of its devices, or on their channels
// (Config.Channels). What follows chooses.

// AddDevice adds what a device wakes with. Call it before anybody waits; the
// background goroutine may sleep already, and looks again.
func (e *Engine) AddDevice(d verbs.Device) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.Posted()
	if e.chans.on() {
		return e.chans.add(d)
	}
	return e.sleeper.add(d)
}

// sleep arms all queues and sleeps until one has something, or the engine is
// kicked. The lock is held when it is called and when it returns.
func (e *Engine) sleep(ctx context.Context, w *Waiter) error {
	if e.chans.on() {
		return e.sleepOnChannels(ctx, w)
	}
	return e.sleepOnDescriptors(ctx, w)
}

// kick wakes a driver that sleeps.
func (e *Engine) kick() {
	if e.chans.on() {
		e.chans.kick()
		return
	}
	e.sleeper.kick()
}

// backgroundSleep arms for solicited events and sleeps until one comes, polling
// after each, or until somebody drives. The lock is held, but not while asleep.
func (e *Engine) backgroundSleep() {
	if e.chans.on() {
		e.backgroundOnChannels()
		return
	}
	e.backgroundOnDescriptors()
}

// backgroundDisarm also sends the goroutine back to its ticks.
func (e *Engine) backgroundDisarm() {
	if e.chans.on() {
		e.disarmOnChannels()
		return
	}
	e.disarmOnDescriptors()
}
