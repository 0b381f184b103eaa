//go:build linux

package shm

import "github.com/verbena-mpi/verbena/verbs"

// order keeps the completions of a queue pair in the order of its requests: a
// send is over when it is posted, but a read before it may still run.
type order struct {
	list []outcome // from the oldest read that runs
	base uint64    // how many outcomes have left list
}

type outcome struct {
	c      verbs.Completion
	over   bool
	silent bool // not signaled: only an error completes
}

// sent completes a signaled send.
func (q *qp) sent(id uint64) {
	c := verbs.Completion{ID: id, QP: q.num, Slot: verbs.NoSlot, Op: verbs.OpSend}
	if len(q.order.list) == 0 {
		q.sendCQ.put(c)
		return
	}
	q.sendCQ.held++
	q.order.list = append(q.order.list, outcome{c: c, over: true})
}

// reading takes a place for a read, and returns its number.
func (q *qp) reading(r *read) uint64 {
	q.sendCQ.held++
	q.order.list = append(q.order.list, outcome{
		c:      verbs.Completion{ID: r.id, QP: q.num, Len: uint32(min(len(r.dst), 1<<32-1)), Slot: verbs.NoSlot, Op: verbs.OpRead},
		silent: r.flags&verbs.Signaled == 0,
	})
	return q.order.base + uint64(len(q.order.list)-1)
}

// readOver ends the read with that number, and completes what waited for it.
func (q *qp) readOver(n uint64, s verbs.Status) {
	o := &q.order
	e := &o.list[n-o.base]
	e.c.Status, e.over = s, true
	done := 0
	for done < len(o.list) && o.list[done].over {
		e := &o.list[done]
		q.sendCQ.held--
		if !e.silent || e.c.Status != verbs.StatusOK {
			q.sendCQ.put(e.c)
		}
		done++
	}
	o.list = append(o.list[:0], o.list[done:]...)
	o.base += uint64(done)
}
