package verbstest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// part is what one side's goroutine does.
type part struct {
	side *side
	run  func() error
}

// together runs the parts at the same time, each in its own goroutine. A side whose
// part is over is polled on until all are: what it has posted last may need it.
func (r *rig) together(parts ...part) {
	r.t.Helper()
	r.gate.running = make(map[*side]bool)
	for _, p := range parts {
		r.gate.running[p.side] = false
	}
	errs := make(chan error, len(parts))
	var left atomic.Int32
	left.Store(int32(len(parts)))
	for _, p := range parts {
		go func() {
			err := p.run()
			r.gate.leave(p.side)
			left.Add(-1)
			for err == nil && left.Load() > 0 {
				err = p.side.poll()
				runtime.Gosched()
			}
			errs <- err
		}()
	}
	for range parts {
		if err := <-errs; err != nil {
			r.t.Error(err)
		}
	}
	if r.t.Failed() {
		r.t.FailNow()
	}
}

// drive is until for a side that has a goroutine of its own: it polls this
// side only.
func (r *rig) drive(s *side, what string, cond func() bool) error {
	for p := r.newPacer(s); !cond(); {
		if err := s.poll(); err != nil {
			return err
		}
		if r.net.Step != nil {
			r.gate.pass(s, r.net.Step)
		}
		if !p.next() {
			return fmt.Errorf("%s: nothing for %v while waiting for %s\n%s", s.name, r.limit, what, s.state())
		}
	}
	return nil
}

// gate moves virtual time where several goroutines are running: a few steps when
// each of them has polled since the last ones. Otherwise seconds of it could pass
// before the second goroutine has begun.
type gate struct {
	mu      sync.Mutex
	running map[*side]bool // whether it has polled since the last steps
}

// stepsPerTurn saves switches between goroutines.
const stepsPerTurn = 4

// pass says that a side has polled.
func (g *gate) pass(s *side, step func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[s] = true
	for _, polled := range g.running {
		if !polled {
			return
		}
	}
	for s := range g.running {
		g.running[s] = false
	}
	for range stepsPerTurn {
		step()
	}
}

// leave says that a side polls no more.
func (g *gate) leave(s *side) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, s)
}
