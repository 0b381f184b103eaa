package launcher

import (
	"fmt"
	"slices"
	"syscall"
	"time"
)

// reaped notes which children have ended.
func (v *supervisor) reaped(b batch) {
	for _, e := range b.Exits {
		if e.Rank < 0 {
			v.log.Debugf("pid %d, left behind by a rank, ended: %s", e.Pid, describe(e.Status))
			continue
		}
		r := v.ranks[e.Rank]
		r.reaped, r.status = true, e.Status
		if r.in != nil {
			go func() { _ = r.in.Close() }() // or the others would wait for it, if a child of its holds the pipe
		}
		if v.looking() && len(v.dead) > 0 {
			v.overlap = true
		}
		joined, finalized := v.server.Joined(e.Rank)
		if status, _ := verdict(e.Status, joined, finalized); status != 0 && r.abort == nil {
			v.following = false // it is known of whom
		}
		v.dead = append(v.dead, e)
		if v.failure == nil && e.Status != 0 && !v.looking() {
			v.lookAround()
		}
		v.log.Debugf("%v ended: %s", r, describe(e.Status))
		// Its last words are in the socket, and its end closes that, unless it
		// has lent the connection to somebody.
		grace := pmiGrace
		if r.host != nil {
			grace += lookLimit // the agent does the same, and its word takes time
		}
		_ = r.pmi.SetDeadline(time.Now().Add(grace))
	}
	v.overlap = v.overlap || len(b.Exits) > 1
	if v.failure == nil && len(b.Dying) > 0 && len(v.awaited) == 0 {
		v.await(b.Dying)
	}
}

// await waits for ranks that are about to die.
func (v *supervisor) await(ids []int) {
	for _, id := range ids {
		v.awaited = append(v.awaited, v.ranks[id])
	}
	v.overlap = true
	if v.looking() {
		v.patience.Reset(lookLimit)
	} else {
		v.patience.Reset(dieGrace)
	}
}

// aborted notes that a rank wants the job to end. It may want that because it
// saw another die: those that are dead by now, or about to be, are judged first.
// They may have called abort themselves, which is perhaps heard later.
func (v *supervisor) aborted(r *rank, f *failure) {
	if v.failure != nil || r.abort != nil {
		return
	}
	for _, other := range v.ranks {
		if other.abort != nil {
			r.abortNo++
		}
	}
	r.abort = f
	if f.follows {
		v.overlap = true
		if len(v.dead) == 0 && v.aborting().abort.follows {
			v.following = true
			v.patience.Reset(lookLimit)
		}
	} else {
		v.following = false
	}
	if len(v.awaited) > 0 {
		return
	}
	b := v.crew.reaper.look() // at this one, too: others may be dying because it is
	v.overlap = v.overlap || len(b.Exits) > 0
	v.reaped(batch{Exits: b.Exits})
	if !v.looking() {
		v.lookAround()
	}
	if len(b.Dying) > 0 {
		v.await(b.Dying)
	}
}

// aborting returns the rank that called abort first, if that isn't judged yet: one that
// did it because of another comes after those that didn't.
func (v *supervisor) aborting() (first *rank) {
	before := func(a, b *rank) bool {
		if a.abort.follows != b.abort.follows {
			return b.abort.follows
		}
		return a.abortNo < b.abortNo
	}
	for _, r := range v.ranks {
		if r.abort != nil && (first == nil || before(r, first)) {
			first = r
		}
	}
	return first
}

// judge decides about ranks that have died, in the order of their deaths, each
// after its last words, and then about one that has called abort.
func (v *supervisor) judge() {
	v.awaited = slices.DeleteFunc(v.awaited, func(r *rank) bool { return r.reaped })
	if len(v.awaited) > 0 || v.looking() || v.following {
		return
	}
	v.sortDead()
	if v.overlap {
		slices.SortStableFunc(v.dead, func(a, b exit) int { return v.rankCause(a) - v.rankCause(b) })
	}
	for len(v.dead) > 0 && v.ranks[v.dead[0].Rank].pmiDone {
		r := v.ranks[v.dead[0].Rank]
		if r.abort != nil && r.abort.follows {
			v.endAborted(v.aborting()) // may be another, which lives
		}
		v.dead = v.dead[1:]
		v.judged++
		joined, finalized := v.server.Joined(r.id)
		if status, why := verdict(r.status, joined, finalized); status != 0 && r.abort == nil && !r.gone {
			v.lost(r, &failure{rank: r.id, status: status, why: fmt.Sprintf("%v %s", r, why)})
		}
		v.noteExit(r)
		v.endAborted(r)
		go v.server.Exited(r.id) // may tell us something
	}
	v.overlap = v.overlap && len(v.dead) > 0
	if r := v.aborting(); r != nil && len(v.dead) == 0 {
		v.endAborted(r)
	}
	if v.judged == len(v.ranks) && v.phase == running {
		v.enter(resting, restGrace)
	}
}

// judgeRest decides about all that have died when there is no more time to wait for
// their last words.
func (v *supervisor) judgeRest() {
	v.awaited, v.following = nil, false
	for _, h := range v.hosts {
		h.looked = v.look
	}
	for _, e := range v.dead {
		v.ranks[e.Rank].pmiDone = true
	}
	v.judge()
}

// sortDead puts the ranks that have died in the order of their deaths, as far as one
// is known: that of the ranks of one host.
func (v *supervisor) sortDead() {
	of := map[*host][]int{}
	for i, e := range v.dead {
		h := v.ranks[e.Rank].host
		of[h] = append(of[h], i)
	}
	for _, at := range of {
		exits := make([]exit, len(at))
		for k, i := range at {
			exits[k] = v.dead[i]
		}
		sortDeaths(exits)
		for k, i := range at {
			v.dead[i] = exits[k]
		}
	}
}

// endAborted ends the job if this rank has called abort.
func (v *supervisor) endAborted(r *rank) {
	if r.abort != nil {
		v.end(r.abort, ending)
		r.abort = nil
	}
}

// rankCause orders deaths that overlapped, so that even the first signs say
// little: a rank killed by a signal is the likely cause, one that exited
// because it saw that is the likely effect. Not so a broken pipe. One that has
// finalized is no cause: the others have seen it finish.
func (v *supervisor) rankCause(e exit) int {
	ws := e.Status
	if r := v.ranks[e.Rank]; r.abort != nil && r.abort.follows {
		return 2
	}
	if _, finalized := v.server.Joined(e.Rank); finalized && ws.Exited() {
		return 2
	}
	if ws.Signaled() && ws.Signal() != syscall.SIGPIPE && ws.Signal() != syscall.SIGTERM {
		return 0
	}
	return 1
}
