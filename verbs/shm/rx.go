//go:build linux

package shm

import (
	"encoding/binary"

	"github.com/verbena-mpi/verbena/verbs"
)

// rx is the receiving side of a ring.
type rx struct {
	ring   *ring
	pos    uint64 // the next cell to take
	acked  uint64 // what the sender has been told
	shadow *raceWord
}

// ready says whether the next cell is published.
func (r *rx) ready() bool {
	// Pairs with the store in publish.
	return uint32(r.ring.cells[r.pos&(ringCells-1)].word.Load()) == uint32(r.pos+1)
}

// release gives the cells before pos back to the sender; their views end.
func (q *qp) release() {
	r := &q.rx
	r.acked = r.pos
	r.ring.head.Store(r.pos)
	// A sender sets want and reads head once more; we store head and look at
	// want: one of us sees the other.
	if r.ring.want.Load() != 0 && q.link != nil && r.ring.want.Swap(0) != 0 {
		q.link.bell.ring()
	}
}

// take consumes cells until out is full or the ring is empty.
func (q *qp) take(out []verbs.Completion) int {
	r := &q.rx
	if r.pos-r.acked >= ackEvery {
		q.release()
	}
	n := 0
	for n < len(out) {
		c := &r.ring.cells[r.pos&(ringCells-1)]
		w := c.word.Load() // read once: the peer can change it at any time
		if uint32(w) != uint32(r.pos+1) {
			break
		}
		raceAcquire(r.shadow)
		size := int(uint16(w >> wordLenShift))
		kind := uint16(w >> wordKindShift)
		o := &out[n]
		switch kind & kindMask {
		case kindSend:
			if size > cellMax {
				q.fail(verbs.StatusCorrupt)
				return n
			}
			o.Slot, o.Data = verbs.NoSlot, c.body[:size:size]
			n++
		case kindSlot:
			i := binary.LittleEndian.Uint32(c.body[:])
			o.Data = q.rq.lend(i, size, q.theirs)
			if o.Data == nil {
				q.fail(verbs.StatusCorrupt)
				return n
			}
			o.Slot = verbs.Slot(i)
			n++
			if q.rq.posted < q.rq.low && !q.rq.fired {
				q.rq.fired = true
				q.recvCQ.put(verbs.Completion{QP: q.num, Slot: verbs.NoSlot, Op: verbs.OpLow})
			}
		default:
			if !q.device(kind&kindMask, c) {
				return n
			}
			r.pos++
			continue
		}
		r.pos++
		o.ID, o.QP, o.Len, o.Op, o.Status, o.Flags = 0, q.num, uint32(size), verbs.OpRecv, verbs.StatusOK, 0
		if kind&wordImm != 0 {
			o.Flags = verbs.WithImm
			o.Imm = binary.LittleEndian.Uint32(c.body[cellImm:])
		}
	}
	return n
}

// device handles a message between devices. It returns false if the queue pair
// has failed.
func (q *qp) device(kind uint16, c *cell) bool {
	var b [4]uint64
	for i := range b {
		b[i] = binary.LittleEndian.Uint64(c.body[8*i:])
	}
	ok := false
	switch kind {
	case kindRead:
		ok = q.serveNew(b[0], b[1], b[2], b[3])
	case kindChunk:
		ok = q.readChunk(b[0], b[1], b[2])
	case kindFailed:
		ok = q.readFailed(b[0], b[1])
	}
	if !ok {
		q.fail(verbs.StatusCorrupt)
	}
	return ok
}
