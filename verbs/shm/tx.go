//go:build linux

package shm

import (
	"encoding/binary"

	"github.com/verbena-mpi/verbena/verbs"
)

// room says whether a cell is free in the peer's ring. The receiver's word is
// read only when the ring looks full.
func (q *qp) room() bool { return q.pos != q.limit || q.lookForRoom() }

func (q *qp) lookForRoom() bool {
	head := q.tx.head.Load()
	if q.pos-head > ringCells { // a peer that counts what was never sent
		q.fail(verbs.StatusCorrupt)
		return false
	}
	q.limit = head + ringCells
	return q.pos != q.limit
}

// send puts one message into the peer's memory.
func (q *qp) send(wr *verbs.SendWR) error {
	n := len(wr.Hdr) + len(wr.Data)
	if wr.Flags&verbs.Inline != 0 && n > q.inline {
		return verbs.ErrInline
	}
	if n > q.slots.size && n > cellMax {
		return verbs.ErrTooLong
	}
	if !q.room() {
		return q.full(lackCell)
	}
	if wr.Flags&verbs.Signaled != 0 && q.sendCQ.full() {
		return q.full(lackEnd)
	}
	c := &q.tx.cells[q.pos&(ringCells-1)]
	kind := uint16(kindSend)
	if n <= cellMax {
		step(stepCell)
		if len(wr.Hdr) == 16 {
			putHeader(&c.body, wr.Hdr)
		} else {
			copy(c.body[:], wr.Hdr)
		}
		copy(c.body[len(wr.Hdr):cellMax], wr.Data)
	} else {
		i, ok := q.claim()
		if !ok {
			q.dev.count.rnr++
			return q.full(lackSlot)
		}
		step(stepClaimed)
		kind = kindSlot
		b := q.slots.at(i, n)
		copy(b, wr.Hdr)
		copy(b[len(wr.Hdr):], wr.Data)
		binary.LittleEndian.PutUint32(c.body[:], i)
		q.dev.count.slots++
	}
	step(stepCopied)
	if wr.Flags&verbs.WithImm != 0 {
		binary.LittleEndian.PutUint32(c.body[cellImm:], wr.Imm)
		kind |= wordImm
	}
	if wr.Flags&verbs.FlagSolicited != 0 {
		kind |= wordSolicited
	}
	q.publish(c, n, kind)
	if wr.Flags&verbs.Signaled != 0 {
		q.sent(wr.ID)
	}
	return nil
}

// full remembers what a request wants: it is announced when the send CQ is armed. A peer
// that sleeps, for more than a plain message, is woken to make room.
func (q *qp) full(l lack) error {
	q.lack |= l
	q.bell(true)
	return verbs.ErrFull
}

// publish makes cell c, the next of the ring, visible.
func (q *qp) publish(c *cell, n int, kind uint16) {
	raceRelease(q.txShadow)
	// Pairs with the receiver's load in rx.next: the body, and the slot's
	// bytes, are visible to whoever sees this word.
	c.word.Store(packWord(q.pos, n, kind))
	q.pos++
	step(stepPublished)
}

// control sends a message of the device's own.
func (q *qp) control(kind uint16, body ...uint64) bool {
	if !q.room() {
		return false
	}
	c := &q.tx.cells[q.pos&(ringCells-1)]
	for i, v := range body {
		binary.LittleEndian.PutUint64(c.body[8*i:], v)
	}
	q.publish(c, 8*len(body), kind|wordSolicited)
	return true
}

// bell wakes the peer if it sleeps for what was just published. The load comes
// after the publishing store in the one order that atomics have; the peer
// stores armed and then looks at its rings.
func (q *qp) bell(solicited bool) {
	if q.sleeps.Load() != uint32(verbs.None) {
		q.ringFor(solicited)
	}
}

func (q *qp) ringFor(solicited bool) {
	switch verbs.Event(q.sleeps.Load()) {
	case verbs.None: // awake meanwhile
		return
	case verbs.Solicited:
		if !solicited {
			return
		}
	}
	q.link.bell.ring()
	step(stepBell)
}
