package progress

import (
	"sync"
	"time"
)

// The background goroutine sleeps for solicited events when nobody has driven for
// a tick. A tick wakes threads, on the core of a rank that is bound to one: they
// cost a few per cent of what small messages take. So while somebody drives, each
// tick is twice as long as the one before.
const (
	backgroundTick = 5 * time.Millisecond
	backgroundMost = 40 * time.Millisecond
)

// Where whatever comes over a socket wakes it, short messages do that nobody waits for.
// So after each such wake-up in a row it sleeps, without being armed, for twice as long as
// after the one before.
const (
	pauseLeast = 100 * time.Microsecond
	pauseMost  = backgroundTick
)

// background is the goroutine that moves large messages while the program
// computes. While anybody drives it does nothing: it only looks, tick by tick,
// whether they still do.
type background struct {
	stop  chan struct{}
	wg    sync.WaitGroup
	armed bool          // guarded by the engine's lock: it sleeps, armed
	pause time.Duration // guarded by the engine's lock: after a wake-up in vain
	park  parker

	quiet  func()        // of WatchQuiet; guarded by the engine's lock
	resume chan struct{} // has room for one
	still  bool          // guarded by the engine's lock: it waits for resume
}

func (e *Engine) startBackground() error {
	if !e.chans.on() {
		if err := e.back.park.open(); err != nil {
			return err
		}
	}
	e.back.stop, e.back.resume = make(chan struct{}), make(chan struct{}, 1)
	e.back.wg.Go(e.background)
	return nil
}

func (e *Engine) stopBackground() {
	if e.back.stop == nil {
		return
	}
	close(e.back.stop)
	if !e.chans.on() {
		e.back.park.close()
	}
	e.back.wg.Wait()
}

func (e *Engine) background() {
	period := backgroundTick
	tick := time.NewTicker(period)
	defer tick.Stop()
	var seen, slept uint64
	for {
		select {
		case <-e.back.stop:
			return
		case <-tick.C:
		}
		e.mu.Lock()
		quiet := !e.driving && e.drives == seen && !e.closed
		e.back.still = e.asleep && e.count.Sleeps == slept
		still, report := e.back.still, e.back.quiet
		seen, slept = e.drives, e.count.Sleeps
		if quiet {
			e.backgroundSleep()
		}
		e.mu.Unlock()
		if !still {
			if quiet {
				period = backgroundTick
			} else {
				period = min(2*period, backgroundMost)
			}
			tick.Reset(period)
			continue
		}
		// The driver has been asleep for a tick: ticking beside it for as long
		// as it sleeps took a per cent of a core.
		tick.Stop()
		if !e.awaitResume(report) {
			return
		}
		period = backgroundTick
		tick.Reset(period)
	}
}

// resumeBackground sets the ticks going again, since the driver has woken up.
// The lock is held.
func (e *Engine) resumeBackground() {
	if e.back.still {
		e.back.still = false
		e.back.resume <- struct{}{} // has room: once per stillness
	}
}

// Useful notes that a handler has taken something for which it is worth waking a rank
// that computes: what a peer needs in order to go on. Messages as such are not. The
// lock is held.
func (e *Engine) Useful() { e.useful++ }

// pollAll polls until there is no more, for the background goroutine, which was woken by
// one completion and finds it behind all that came before. The lock is held, and given
// away in between: the program may want to drive.
func (e *Engine) pollAll() (n int) {
	for {
		got := e.poll()
		n += got
		if got < batch || e.driving || e.closed {
			return n
		}
		e.mu.Unlock()
		e.mu.Lock()
		if e.driving || e.closed {
			return n
		}
	}
}

// pace chooses the pause after a wake-up.
func (b *background) pace(useful bool) {
	switch {
	case useful:
		b.pause = 0
	case b.pause == 0:
		b.pause = pauseLeast
	default:
		b.pause = min(2*b.pause, pauseMost)
	}
}

// pauseBackground sleeps for the pause. The lock is held, but not while asleep.
func (e *Engine) pauseBackground() {
	timer := time.NewTimer(e.back.pause)
	defer timer.Stop()
	e.mu.Unlock()
	select {
	case <-timer.C:
	case <-e.back.stop:
	}
	e.mu.Lock()
}

// disarmBackground takes the background goroutine's arming back, since somebody
// drives now.
func (e *Engine) disarmBackground() {
	if e.back.armed {
		e.back.armed = false
		e.backgroundDisarm()
	}
}
