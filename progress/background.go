package progress

import (
	"sync"
	"time"
)

// backgroundTick is how long nobody must have driven before the background
// goroutine sleeps for solicited events. A tick costs a few microseconds.
const backgroundTick = 5 * time.Millisecond

// background is the goroutine that moves large messages while the program
// computes. While anybody drives it does nothing: it only looks, tick by tick,
// whether they still do.
type background struct {
	stop  chan struct{}
	wg    sync.WaitGroup
	armed bool // guarded by the engine's lock: it sleeps, armed
	park  parker
}

func (e *Engine) startBackground() error {
	if err := e.back.park.open(); err != nil {
		return err
	}
	e.back.stop = make(chan struct{})
	e.back.wg.Go(e.background)
	return nil
}

func (e *Engine) stopBackground() {
	if e.back.stop == nil {
		return
	}
	close(e.back.stop)
	e.back.park.close()
	e.back.wg.Wait()
}

func (e *Engine) background() {
	tick := time.NewTicker(backgroundTick)
	defer tick.Stop()
	var seen uint64
	for {
		select {
		case <-e.back.stop:
			return
		case <-tick.C:
		}
		e.mu.Lock()
		quiet := !e.driving && e.drives == seen && !e.closed
		seen = e.drives
		if quiet {
			e.backgroundSleep()
		}
		e.mu.Unlock()
	}
}

// disarmBackground takes the background goroutine's arming back, since somebody
// drives now.
func (e *Engine) disarmBackground() {
	if e.back.armed {
		e.back.armed = false
		e.backgroundDisarm()
	}
}
