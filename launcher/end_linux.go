package launcher

import (
	"strings"
	"syscall"
	"time"

	"github.com/verbena-mpi/verbena/internal/ranges"
)

// end ends the job, if it isn't ending already; the first reason counts.
func (v *supervisor) end(f *failure, p phase) {
	if v.failure == nil {
		v.failure = f
	}
	if p <= v.phase {
		return
	}
	v.log.Debugf("ending all ranks: %s", f.why)
	if p == killing {
		v.kill()
		return
	}
	but := -1
	if f.leaves {
		but = f.rank
	}
	v.signal(syscall.SIGTERM, true, but)
	v.enter(ending, termGrace)
}

func (v *supervisor) enter(p phase, limit time.Duration) {
	v.phase = p
	v.deadline.Reset(limit)
}

// late is the end of a phase's time. It returns true if no process is left
// that is worth waiting for.
func (v *supervisor) late() bool {
	switch v.phase {
	case resting, ending:
		v.kill()
	case killing:
		v.log.Warnf("killed, and not gone after %v: %s", killGrace, v.leftOver())
		v.leave()
	case leaving:
		return true
	}
	return false
}

// leftOver says what is left of the job.
func (v *supervisor) leftOver() string {
	var left []string
	if !v.vacant {
		left = append(left, "pid "+ranges.Format(children()))
	}
	for _, h := range v.hosts {
		if !h.empty {
			left = append(left, "on "+h.name)
		}
	}
	return strings.Join(left, ", ")
}

func (v *supervisor) kill() {
	v.killAll()
	v.enter(killing, killGrace)
}

// leave ends all streams once they have passed on what there is. Somebody who
// isn't our descendant may still hold a pipe open: that is not waited for.
func (v *supervisor) leave() {
	if v.phase == leaving {
		return
	}
	for _, r := range v.ranks {
		r.out.cut()
		r.err.cut()
	}
	v.enter(leaving, restGrace)
}

// killAll kills the ranks and all that they have started.
func (v *supervisor) killAll() {
	v.crew.kill()
	for _, h := range v.hosts {
		if !h.killed { // the agent does it again and again
			h.killed = true
			h.order(toAgent{Kill: true})
		}
	}
}
