package inproc

import (
	"fmt"
	"sync/atomic"

	"github.com/verbena-mpi/verbena/verbs"
)

// completionQueue is a CQ.
type completionQueue struct {
	dev     *Device
	entries []entry
	some    atomic.Bool // there are entries: for Pending, which takes no lock
	look    atomic.Bool // something has happened since the last Poll, which takes none either then
	armed   verbs.Event
	fired   bool // an armed event has happened, and nobody has polled since
	room    bool // there is room where ErrFull was the answer, and nobody has polled since
	closed  bool
}

// entry is a completion.
type entry struct {
	c         verbs.Completion
	solicited bool       // the message came with the flag
	qp        *queuePair // whose request it ends, or whose message it is
	seq       uint64     // of the request that it ends; 0 for messages
}

// NewCQ implements verbs.Device.
func (d *Device) NewCQ(depth int) (verbs.CQ, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if depth <= 0 {
		return nil, fmt.Errorf("%w: inproc: a completion queue of depth %d", verbs.ErrInvalid, depth)
	}
	cq := &completionQueue{dev: d}
	d.cqs = append(d.cqs, cq)
	return cq, nil
}

// Poll implements verbs.CQ. It gives back the room of the requests that its
// completions cover.
func (cq *completionQueue) Poll(c []verbs.Completion) int {
	if !cq.some.Load() && !cq.look.Load() {
		return 0
	}
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	cq.fired, cq.room = false, false
	cq.look.Store(false)
	n := min(len(c), len(cq.entries))
	for i := range n {
		e := &cq.entries[i]
		c[i] = e.c
		if e.seq != 0 {
			e.qp.covered = e.seq
		}
	}
	cq.keep(cq.entries[n:])
	return n
}

// keep makes the entries those of rest, which is a part of them.
func (cq *completionQueue) keep(rest []entry) {
	n := copy(cq.entries, rest)
	clear(cq.entries[n:])
	cq.entries = cq.entries[:n]
	cq.some.Store(n > 0)
}

// Pending implements verbs.CQ.
func (cq *completionQueue) Pending() bool { return cq.some.Load() }

// Arm implements verbs.CQ.
func (cq *completionQueue) Arm(ev verbs.Event) (again bool) {
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	cq.armed, cq.fired = ev, false
	return ev != verbs.None && len(cq.entries) > 0 || ev == verbs.Any && cq.room
}

// Close implements verbs.CQ.
func (cq *completionQueue) Close() error {
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	cq.close()
	return nil
}

func (cq *completionQueue) close() {
	cq.closed, cq.armed, cq.fired, cq.room = true, verbs.None, false, false
	cq.keep(nil)
}

// push adds a completion.
func (cq *completionQueue) push(e entry) {
	if cq.closed {
		return
	}
	cq.entries = append(cq.entries, e)
	cq.some.Store(true)
	if cq.armed == verbs.Any || cq.armed == verbs.Solicited && e.wakes() {
		cq.fire()
	}
}

// wakes says whether the completion wakes a queue that is armed for Solicited.
func (e *entry) wakes() bool {
	return e.solicited || e.c.Status != verbs.StatusOK || e.c.Op != verbs.OpSend && e.c.Op != verbs.OpRecv
}

// makeRoom says that there is room where ErrFull was the answer.
func (cq *completionQueue) makeRoom() {
	cq.room = true
	cq.look.Store(true)
	if cq.armed == verbs.Any {
		cq.fire()
	}
}

// fire wakes the owner.
func (cq *completionQueue) fire() {
	cq.fired = true
	cq.look.Store(true)
	cq.dev.ring()
}

// drop forgets the messages of a queue pair that is closed, and gives their slots
// back.
func (cq *completionQueue) drop(q *queuePair) {
	rest := make([]entry, 0, len(cq.entries))
	for _, e := range cq.entries {
		if e.qp != q || e.seq != 0 {
			rest = append(rest, e)
		} else if e.c.Slot != verbs.NoSlot {
			q.rq.repost(e.c.Slot)
		}
	}
	cq.keep(rest)
}
