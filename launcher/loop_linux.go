package launcher

import (
	"fmt"
	"syscall"
	"time"

	"github.com/verbena-mpi/verbena/internal/ranges"
)

// loop looks after the ranks until all are gone and all they said was passed
// on.
func (v *supervisor) loop() {
	var timeout <-chan time.Time
	if v.spec.Timeout > 0 {
		t := time.NewTimer(v.spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	again := time.NewTicker(killAgain)
	defer again.Stop()
	copied, none, orders := v.copied, v.crew.reaper.none, v.orders
	defer close(v.crew.reaper.stop)
	over := false // no process is left that is worth waiting for
	for _, e := range v.early {
		v.heed(e)
	}
	for copied != nil || !over && (v.occupied() || v.judged < len(v.ranks)) {
		var kill <-chan time.Time
		if v.phase == killing {
			kill = again.C
		}
		select {
		case <-v.crew.reaper.ready:
			for _, b := range v.crew.reaper.take() {
				v.reaped(b)
			}
		case e := <-v.agents:
			v.heed(e)
		case <-v.patience.C:
			v.awaited, v.following = nil, false
			for _, h := range v.hosts {
				h.looked = v.look
			}
		case <-kill:
			v.killAll()
		case e := <-v.pmi:
			v.heard(e)
		case e := <-v.links:
			v.hear(e)
		case <-v.dumps:
			v.dump()
		case <-v.roundEnd.C:
			v.finishRound(true)
		case <-v.news.C:
			v.tellExits()
		case o, ok := <-orders:
			if !ok {
				orders, v.hurry = nil, true
				v.end(&failure{rank: -1, status: StatusInternal}, killing)
				break
			}
			v.obey(o)
		case <-timeout:
			if len(v.running()) == 0 {
				continue
			}
			v.timeUp(&failure{rank: -1, status: StatusTimeout, why: fmt.Sprintf("time limit of %v reached; still running: rank %s", v.spec.Timeout, ranges.Format(v.running()))})
		case <-v.deadline.C:
			if over {
				v.unread()
			}
			if over = v.late(); over && v.asked != 0 && time.Since(v.askedAt) < askedLately {
				v.deadline.Reset(unreadGrace)
			}
		case <-copied:
			copied = nil
		case <-none:
			none, v.vacant = nil, true
			v.leaveIfEmpty()
		}
		if over && v.hurry {
			break
		}
		v.judge()
	}
	v.judgeRest()
}

// heard is what a rank said to the PMI server.
func (v *supervisor) heard(e pmiEvent) {
	r := v.ranks[e.rank]
	switch {
	case e.done:
		r.pmiDone = true
	case e.abort:
		v.aborted(r, &failure{rank: r.id, status: abortStatus(e.code), why: fmt.Sprintf("%v %v", r, e), leaves: true, follows: e.follows})
	case e.bad != nil:
		v.end(&failure{rank: r.id, status: 1, why: fmt.Sprintf("%v broke the protocol of its launcher: %v", r, e)}, ending)
	case e.stuck:
		m := v.ranks[e.missing]
		v.end(&failure{rank: m.id, status: 1, why: fmt.Sprintf("%v %s, and rank %d waits for it in a barrier", m, v.left(m), r.id)}, ending)
	}
}

func (v *supervisor) left(r *rank) string {
	if r.reaped {
		return r.fate()
	}
	return "has finalized"
}

// obey is what the front wants.
func (v *supervisor) obey(o order) {
	if o.Cancel {
		v.end(&failure{rank: -1, status: 128 + int(syscall.SIGTERM), why: "the job was canceled"}, ending)
		return
	}
	sig := syscall.Signal(o.Signal)
	v.log.Debugf("passing %s on", signalName(sig))
	if sig == syscall.SIGINT {
		if v.ints++; v.ints > 1 {
			v.hurry = true
			v.end(&failure{rank: -1, status: 128 + int(sig), why: "interrupted twice: all ranks killed"}, killing)
			return
		}
	}
	own := sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2
	if !own {
		v.asked, v.askedAt = sig, time.Now()
	}
	if len(v.running()) == 0 && !own {
		v.unread()
		return
	}
	v.signal(sig, !own, -1)
}

// unread is the end of a job whose ranks are gone, and which was told to end,
// while nobody reads its output.
func (v *supervisor) unread() {
	v.hurry = true
	v.end(&failure{rank: -1, status: 128 + int(v.asked), why: fmt.Sprintf("ended by %s with output unread", signalName(v.asked))}, killing)
}

// signal sends to all ranks but one.
func (v *supervisor) signal(sig syscall.Signal, groups bool, but int) {
	v.crew.signal(sig, groups, but)
	for _, h := range v.hosts {
		if !h.empty {
			h.order(toAgent{Signal: &agentSignal{int(sig), groups, but}})
		}
	}
}

// running lists the ranks that run.
func (v *supervisor) running() []int {
	var ids []int
	for _, r := range v.ranks {
		if !r.reaped {
			ids = append(ids, r.id)
		}
	}
	return ids
}
