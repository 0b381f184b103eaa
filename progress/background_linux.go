package progress

import (
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// parker is the background goroutine's own epoll set: the driver may sleep on
// its own while this one is still parked.
type parker struct{ nest *nest }

func (p *parker) open() (err error) {
	p.nest, err = newNest()
	return err
}

func (p *parker) close() { _ = p.nest.file.Close() }

// backgroundOnDescriptors is backgroundSleep.
func (e *Engine) backgroundOnDescriptors() {
	n := e.back.park.nest
	for !e.driving && !e.closed {
		if !e.armAll(verbs.Solicited) {
			e.poll()
			// The program may want the lock, and to drive: the mutex gives it to
			// whoever has waited for a millisecond. Giving the processor away as
			// well would, where there is only one, end each poll with 10 ms or
			// more of the program's computation.
			e.mu.Unlock()
			e.mu.Lock()
			continue
		}
		_ = n.file.SetReadDeadline(time.Time{})
		e.back.armed = true
		e.count.BackgroundSleeps++
		e.mu.Unlock()
		err := n.wait(func() bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.back.armed && n.hang(e.sleeper.inner) == nil
		})
		e.mu.Lock()
		if !e.back.armed || err != nil {
			e.disarmBackground()
			return // somebody drives, or did; or the engine was closed
		}
		e.disarmBackground()
		useful := e.useful
		n := e.pollAll()
		e.back.pace(!e.slow || n == 0 || e.useful != useful)
		if e.back.pause > 0 {
			e.pauseBackground()
		}
	}
}

// disarmOnDescriptors is backgroundDisarm.
func (e *Engine) disarmOnDescriptors() {
	n := e.back.park.nest
	n.unhang(e.sleeper.inner)
	_ = n.file.SetReadDeadline(time.Unix(1, 0))
	e.sleeper.unkick()
	e.armAll(verbs.None)
}
