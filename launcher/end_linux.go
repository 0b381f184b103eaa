package launcher

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// end ends the job, if it isn't ending already; the first reason counts.
func (v *supervisor) end(f *failure, p phase) {
	if v.failure == nil {
		v.failure = f
	}
	if p <= v.phase {
		return
	}
	if p == killing {
		v.killAll()
		v.enter(killing, killGrace)
		return
	}
	v.log.Debugf("ending all ranks: %s", f.why)
	v.signal(syscall.SIGTERM, true)
	v.enter(ending, termGrace)
}

func (v *supervisor) enter(p phase, limit time.Duration) {
	v.phase = p
	v.deadline.Reset(limit)
}

// late is the end of a phase's time. It returns true if there is nothing left
// to wait for.
func (v *supervisor) late() bool {
	switch v.phase {
	case resting, ending:
		v.killAll()
		v.enter(killing, killGrace)
	case killing:
		for _, r := range v.ranks {
			r.out.cut()
			r.err.cut()
		}
		v.enter(leaving, killGrace)
	case leaving:
		return true
	}
	return false
}

// killAll kills the ranks, their groups and everything that is our child. What
// those have started becomes our child in turn: see the reaper's exits.
func (v *supervisor) killAll() {
	if v.reaper != nil {
		v.reaper.mu.Lock()
		defer v.reaper.mu.Unlock()
	}
	for _, r := range v.ranks {
		r.signal(syscall.SIGKILL, true)
	}
	for _, pid := range children() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
