//go:build linux

package shm

import (
	"slices"

	"github.com/verbena-mpi/verbena/verbs"
)

// attend takes what the contact goroutines have learnt, and reports queue pairs
// whose peers are gone. It runs under the caller's lock, from Poll.
func (d *Device) attend() {
	d.attention.Store(false) // before the look: what comes later sets it again
	d.mu.Lock()
	list := d.news
	d.news = nil
	d.mu.Unlock()
	for _, n := range list {
		switch {
		case n.up != nil:
			n.qp.up(n.up)
		case n.qp.state == qpClosed:
			n.qp.rq.reclaim(n.qp.theirs) // what it took before it heard of our end
		default:
			n.qp.end(n.status)
		}
	}
	d.closing = slices.DeleteFunc(d.closing, (*qp).ended)
	if len(d.closing) != 0 {
		d.attention.Store(true)
	}
}

// up makes the queue pair usable.
func (q *qp) up(l *link) {
	if q.state == qpFailed || q.state == qpClosed {
		l.leave()
		return
	}
	h := &l.hello
	q.link, q.sleeps = l, &l.header.armed
	q.tx = view[ring](l.seg, ringsOff+int(h.Ring)*ringSize)
	q.slots = h.Pool.view(l.seg)
	q.mine = h.Ring + 1
	q.txShadow = raceShadow(h.Nonce, h.Ring)
	q.limit = ringCells
	q.cursor = int(h.Ring) * 16 % int(h.Pool.Slots) // not all senders at the same slot
	q.state = qpReady
	q.recvCQ.add(q)
}

// ended reports a queue pair whose peer is gone, when all that the peer had
// published is delivered.
func (q *qp) ended() bool {
	if q.state == qpClosed {
		return true
	}
	if q.link != nil && !q.corrupt && q.rx.ready() {
		return false
	}
	q.state = qpFailed
	q.flush(statusOfReads(q.status))
	q.recvCQ.drop(q)
	q.rq.reclaim(q.theirs)
	if !q.haveEnd {
		q.haveEnd = true
		q.recvCQ.put(verbs.Completion{QP: q.num, Slot: verbs.NoSlot, Op: verbs.OpClosed, Status: q.status})
	}
	return true
}

// statusOfReads is how reads end when their queue pair does.
func statusOfReads(s verbs.Status) verbs.Status {
	if s == verbs.StatusPeerClosed {
		return verbs.StatusFlushed
	}
	return s
}
