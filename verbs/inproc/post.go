package inproc

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// PostSend implements verbs.QP.
func (q *queuePair) PostSend(wrs []verbs.SendWR) (n int, err error) {
	q.dev.net.mu.Lock()
	defer q.dev.net.mu.Unlock()
	switch {
	case q.dev.closed:
		return 0, verbs.ErrClosed
	case q.state == idle || q.state == failed:
		return 0, verbs.ErrState
	case q.state == configured:
		q.start()
	}
	for i := range wrs {
		if err := q.post(&wrs[i]); err != nil {
			return i, err
		}
	}
	return len(wrs), nil
}

// post does what is asked, at once.
func (q *queuePair) post(wr *verbs.SendWR) error {
	if err := q.valid(wr); err != nil {
		return err
	}
	switch {
	case q.state == failed: // to begin with: nobody is there
		return verbs.ErrState
	case q.state != connected:
		q.full = true
		return verbs.ErrFull
	case q.posted-q.covered >= uint64(q.depth): // the completions that make room are there
		return verbs.ErrFull
	}
	st := verbs.StatusOK
	if wr.Op == verbs.OpRead {
		st = q.peer.dev.regions.read(wr.Data, wr.Remote)
	} else if err := q.send(wr); err != nil {
		return err
	}
	q.posted++
	if wr.Flags&verbs.Signaled != 0 || st != verbs.StatusOK {
		c := verbs.Completion{ID: wr.ID, QP: q.num, Op: wr.Op, Status: st, Slot: verbs.NoSlot}
		q.sendCQ.push(entry{c: c, qp: q, seq: q.posted})
	}
	return nil
}

// valid checks a request.
func (q *queuePair) valid(wr *verbs.SendWR) error {
	size := len(wr.Hdr) + len(wr.Data)
	switch wr.Op {
	case verbs.OpSend:
		if size <= maxSend {
			return nil
		}
		if wr.Flags&verbs.Inline != 0 {
			return fmt.Errorf("%w: inproc: %d bytes, %d granted", verbs.ErrInline, size, maxSend)
		}
		return fmt.Errorf("%w: inproc: %d bytes, at most %d", verbs.ErrTooLong, size, maxSend)
	case verbs.OpRead:
		if wr.Flags&verbs.Inline != 0 || len(wr.Hdr) != 0 {
			return fmt.Errorf("%w: inproc: a read with a header, or inline", verbs.ErrInvalid)
		}
		return nil
	}
	return fmt.Errorf("%w: inproc: request %v", verbs.ErrInvalid, wr.Op)
}

// send copies a message into a slot of its receiver.
func (q *queuePair) send(wr *verbs.SendWR) error {
	p, size := q.peer, len(wr.Hdr)+len(wr.Data)
	if size > p.rq.cfg.SlotSize {
		return fmt.Errorf("%w: inproc: %d bytes into a slot of %d", verbs.ErrTooLong, size, p.rq.cfg.SlotSize)
	}
	slot, ok := p.rq.take(size)
	if !ok {
		q.dev.rnr++
		p.rq.wait(q)
		return verbs.ErrFull
	}
	view := p.rq.view(slot, size)
	copy(view[copy(view, wr.Hdr):], wr.Data)
	e := entry{qp: p, solicited: wr.Flags&verbs.FlagSolicited != 0}
	e.c = verbs.Completion{QP: p.num, Len: uint32(size), Slot: slot, Op: verbs.OpRecv, Data: view}
	if wr.Flags&verbs.WithImm != 0 {
		e.c.Flags, e.c.Imm = verbs.WithImm, wr.Imm
	}
	p.recvCQ.push(e)
	if p.rq.crossed() {
		p.recvCQ.push(entry{c: verbs.Completion{QP: p.num, Op: verbs.OpLow, Slot: verbs.NoSlot}})
	}
	return nil
}

// Abort implements verbs.QP: it comes too late, for reads are over when PostSend
// returns.
func (q *queuePair) Abort(uint64) {}
