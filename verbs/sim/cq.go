package sim

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// completionQueue is a CQ.
type completionQueue struct {
	dev     *Device
	depth   int
	entries []entry
	sends   int // entries that end requests: they are what depth bounds
	armed   verbs.Event
	fired   bool
	closed  bool
}

// entry is a completion, and the request that it ends, if it ends one.
type entry struct {
	c         verbs.Completion
	solicited bool // the message came with the flag; the completion doesn't say so
	qp        *queuePair
	seq       uint64
}

// NewCQ implements verbs.Device.
func (d *Device) NewCQ(depth int) (verbs.CQ, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if depth <= 0 {
		return nil, fmt.Errorf("%w: a completion queue of depth %d", verbs.ErrInvalid, depth)
	}
	cq := &completionQueue{dev: d, depth: depth}
	d.cqs = append(d.cqs, cq)
	return cq, nil
}

// Poll implements verbs.CQ. It gives back the room of the requests that its
// completions cover.
func (cq *completionQueue) Poll(c []verbs.Completion) int {
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	cq.fired = false
	n := min(len(c), len(cq.entries))
	for i := range n {
		e := &cq.entries[i]
		c[i] = e.c
		if e.qp != nil {
			cq.sends--
			e.qp.release(e.seq)
		}
	}
	rest := copy(cq.entries, cq.entries[n:])
	clear(cq.entries[rest:])
	cq.entries = cq.entries[:rest]
	return n
}

// Pending implements verbs.CQ.
func (cq *completionQueue) Pending() bool {
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	return len(cq.entries) > 0
}

// Arm implements verbs.CQ. As with an adapter it is what comes later that
// fires; what is there already is the caller's to poll.
func (cq *completionQueue) Arm(ev verbs.Event) (again bool) {
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	cq.armed, cq.fired = ev, false
	return ev != verbs.None && len(cq.entries) > 0
}

// Close implements verbs.CQ.
func (cq *completionQueue) Close() error {
	cq.dev.net.mu.Lock()
	defer cq.dev.net.mu.Unlock()
	cq.closed = true
	cq.entries, cq.armed, cq.fired = nil, verbs.None, false
	return nil
}

// push adds a completion. One more than depth is an overrun: the queue pairs
// of this queue are of no use any more.
func (cq *completionQueue) push(e entry) {
	if cq.closed {
		return
	}
	cq.entries = append(cq.entries, e)
	if cq.armed == verbs.Any || cq.armed == verbs.Solicited && e.wakes() {
		cq.armed, cq.fired = verbs.None, true
	}
	if e.qp == nil {
		return
	}
	if cq.sends++; cq.sends == cq.depth+1 {
		cq.dev.count.cqOverrun++
		for _, q := range append([]*queuePair(nil), cq.dev.qps...) {
			if q.sendCQ == cq {
				q.fail(nil, verbs.StatusOK, verbs.StatusFlushed)
			}
		}
	}
}

// wakes says whether the completion wakes a queue armed for verbs.Solicited.
func (e *entry) wakes() bool {
	return e.solicited || e.c.Status != verbs.StatusOK || e.c.Op != verbs.OpSend && e.c.Op != verbs.OpRecv
}
