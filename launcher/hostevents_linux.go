package launcher

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/verbena-mpi/verbena/internal/ranges"
)

// lookLimit is how long agents have to say who is dead on their hosts.
const lookLimit = 500 * time.Millisecond

// heed is what an agent says while the job runs.
func (v *supervisor) heed(e hostEvent) {
	h := e.h
	switch m := e.msg; {
	case h.lost:
	case e.err != nil:
		v.loseHost(h, e.err)
	case m.Deaths != nil:
		if err := v.learn(h, m.Deaths.Batch.Exits); err != nil {
			v.loseHost(h, err)
			return
		}
		m.Deaths.Batch.Dying = slices.DeleteFunc(m.Deaths.Batch.Dying, func(id int) bool {
			return !slices.ContainsFunc(h.ranks, func(r *rank) bool { return r.id == id && !r.reaped })
		})
		v.reaped(m.Deaths.Batch)
		if m.Deaths.Look > 0 {
			h.looked = m.Deaths.Look
		}
	case m.Empty:
		h.empty = true
		v.leaveIfEmpty()
	}
}

// learn checks exits of ranks on another host, and takes what came with them.
func (v *supervisor) learn(h *host, exits []exit) error {
	ended := map[int]bool{}
	for _, e := range exits {
		if e.Rank < 0 {
			continue
		}
		i := slices.IndexFunc(h.ranks, func(r *rank) bool { return r.id == e.Rank })
		if i < 0 || h.ranks[i].reaped || ended[e.Rank] {
			return fail(StatusHost, "host %s: its agent reports the end of rank %d, which doesn't run there", h.name, e.Rank)
		}
		ended[e.Rank] = true
		h.ranks[i].link.words = e.Crash
		if e.Rank == 0 {
			v.taken = e.Taken
		}
	}
	return nil
}

// loseHost is the end of a host, or of the way to it: its ranks count as dead. It
// kills them itself if it is still there.
func (v *supervisor) loseHost(h *host, err error) {
	h.lost, h.empty = true, true
	go h.hangUp() // may wait for goroutines that wait for us
	if h.way.stop != nil {
		h.way.stop()
	}
	var lost []int
	for _, r := range h.ranks {
		if !r.reaped {
			r.reaped, r.gone, r.status = true, true, syscall.WaitStatus(syscall.SIGKILL)
			v.dead = append(v.dead, exit{Rank: r.id, Pid: r.pid, Status: r.status})
			lost = append(lost, r.id)
			if r.in != nil {
				go func() { _ = r.in.Close() }()
			}
		}
	}
	v.leaveIfEmpty()
	if len(lost) == 0 {
		v.log.Debug(err)
		return
	}
	f := &failure{rank: -1, status: StatusHost, why: fmt.Sprintf("%v, and with it rank %s", err, ranges.Format(lost))}
	if v.spec.Continuous && v.phase == running {
		if v.died == nil {
			v.died = f
		}
		f.said = true
		v.printLater(fmt.Sprintf("verbrun: %s; the other ranks go on\n", f.why))
		return
	}
	v.end(f, ending)
}

// occupied says whether any host has processes of the job left.
func (v *supervisor) occupied() bool {
	return !v.vacant || slices.ContainsFunc(v.hosts, func(h *host) bool { return !h.empty })
}

// leaveIfEmpty ends the streams when nobody is left who could write to them.
func (v *supervisor) leaveIfEmpty() {
	if !v.occupied() {
		v.leave()
	}
}

// lookAround asks all hosts who is dead by now: which of them a connection was faster
// from says nothing.
func (v *supervisor) lookAround() {
	asked := false
	for _, h := range v.hosts {
		if !h.empty {
			h.order(toAgent{Look: v.look + 1})
			asked = true
		}
	}
	if asked {
		v.look++
		v.patience.Reset(lookLimit)
	}
}

// looking says whether a host hasn't answered yet.
func (v *supervisor) looking() bool {
	return slices.ContainsFunc(v.hosts, func(h *host) bool { return !h.empty && h.looked < v.look })
}
