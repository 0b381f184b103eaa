//go:build linux

package shm

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

type qpState uint8

const (
	qpNew        qpState = iota
	qpConnected          // Connect was called; the first PostSend dials
	qpConnecting         // a dial is under way
	qpReady
	qpFailed
	qpClosed
)

// lack says what was missing for requests that were not taken.
type lack uint8

const (
	lackCell lack = 1 << iota // or a connection
	lackSlot
	lackEnd // the end of another request, which is a completion
)

// qp is a queue pair.
type qp struct {
	dev    *Device
	num    uint32
	state  qpState
	sendCQ *cq
	recvCQ *cq
	rq     *rq
	inline int
	depth  int

	// Sending: the ring and the slots in the peer's segment.
	tx       *ring
	pos      uint64 // the next cell to write
	limit    uint64 // up to here cells are known to be free
	slots    slots
	cursor   int    // where to look for the next slot
	mine     uint32 // this queue pair's number in the peer's owner words
	link     *link
	sleeps   *atomic.Uint32 // what the peer sleeps for: its header's armed
	txShadow *raceWord
	lack     lack // since the last announcement

	// Receiving: the ring in this device's segment.
	rx      rx
	theirs  uint32 // the peer's number in our owner words: the ring's, plus one
	closing bool   // the peer is gone with status; OpClosed follows when the ring is dry
	status  verbs.Status
	corrupt bool // don't touch the ring any more

	reads  int    // reads in flight
	loans  loans  // chunks that the peer has
	given  uint64 // units of the peer's chunks that were given back
	served uint32 // the last round in which a read of the peer was served
	pace   pace
	order  order

	// Whether the peer streams what it was asked for.
	streaming int       // reads
	heard     time.Time // of the first check since its last chunk; zero: none since then
	stalled   uint32    // the last check that found that it doesn't

	labels  labels
	peer    addr
	haveEnd bool // OpClosed was reported
}

// NewQP implements verbs.Device.
func (d *Device) NewQP(c verbs.QPConfig) (verbs.QP, error) {
	if d.closed {
		return nil, verbs.ErrClosed
	}
	s, ok1 := c.SendCQ.(*cq)
	r, ok2 := c.RecvCQ.(*cq)
	queue, ok3 := c.RQ.(*rq)
	if !ok1 || !ok2 || !ok3 || s.dev != d || r.dev != d || queue.dev != d {
		return nil, fmt.Errorf("%w: shm: a queue pair needs completion and receive queues of its own device", verbs.ErrInvalid)
	}
	if c.Depth < 0 || c.Inline < 0 {
		return nil, fmt.Errorf("%w: shm: queue pair depth %d, inline %d", verbs.ErrInvalid, c.Depth, c.Inline)
	}
	if !queue.shared && queue.users > 0 {
		return nil, fmt.Errorf("%w: shm: the receive queue is not shared and has its queue pair", verbs.ErrInvalid)
	}
	idx, ok := d.freeRing()
	if !ok {
		return nil, fmt.Errorf("%w: shm: %d queue pairs are in use", verbs.ErrNoMemory, d.cfg.MaxPeers)
	}
	d.lastQP++
	q := &qp{
		dev: d, num: d.lastQP, sendCQ: s, recvCQ: r, rq: queue, depth: c.Depth,
		// A post copies the message in any case, so every size that can be
		// sent is inline.
		inline: min(max(int(queue.info.SlotSize), cellMax, c.Inline), maxSend),
		theirs: uint32(idx) + 1,
	}
	if q.depth == 0 {
		q.depth = ringCells
	}
	q.rx = rx{ring: view[ring](d.seg, ringsOff+idx*ringSize), shadow: raceShadow(d.nonce, uint32(idx))}
	queue.users++
	d.qps = append(d.qps, q)
	return q, nil
}

// Num implements verbs.QP.
func (q *qp) Num() uint32 { return q.num }

// Inline implements verbs.QP.
func (q *qp) Inline() int { return q.inline }

// PostSend implements verbs.QP.
func (q *qp) PostSend(wrs []verbs.SendWR) (n int, err error) {
	if q.state != qpReady {
		return q.postEarly(wrs)
	}
	solicited := false
	for n < len(wrs) {
		wr := &wrs[n]
		switch wr.Op {
		case verbs.OpSend:
			err = q.send(wr)
			solicited = solicited || wr.Flags&verbs.FlagSolicited != 0
		case verbs.OpRead:
			err = q.read(wr)
			solicited = true
		default:
			err = fmt.Errorf("%w: shm: request %v", verbs.ErrInvalid, wr.Op)
		}
		if err != nil {
			break
		}
		n++
	}
	if n > 0 && q.state == qpReady {
		q.bell(solicited)
	}
	if err != nil && q.state != qpReady {
		return n, verbs.ErrState
	}
	return n, err
}

// postEarly starts the connection.
func (q *qp) postEarly(wrs []verbs.SendWR) (int, error) {
	switch q.state {
	case qpConnected:
		q.state = qpConnecting
		q.dev.dial(q)
		fallthrough
	case qpConnecting:
		if q.dev.attention.Load() {
			q.dev.attend()
			if q.state == qpReady {
				return q.PostSend(wrs)
			}
		}
		if len(wrs) == 0 {
			return 0, nil
		}
		q.lack |= lackCell
		return 0, verbs.ErrFull
	}
	return 0, verbs.ErrState
}

// announce tells the receiver that room is wanted, and says whether there is
// some already.
func (q *qp) announce() bool {
	if q.state != qpReady {
		return q.state == qpFailed
	}
	if q.lack == lackEnd {
		return false
	}
	q.tx.want.Store(1)
	q.slots.want.Store(1)
	// A slot is only looked for, not claimed: another sender that looks at the
	// same moment would sleep beside it.
	if !q.room() || q.lack&lackCell == 0 && !q.slots.free() {
		return false
	}
	q.tx.want.Store(0) // or the next room would wake us, whatever we sleep for then
	q.lack = 0
	return true
}

// fail puts the queue pair in the error state: nothing of the peer's is believed
// any more.
func (q *qp) fail(s verbs.Status) {
	if q.state == qpFailed || q.state == qpClosed {
		return
	}
	q.state = qpFailed
	q.corrupt = true
	q.end(s)
}

// end notes that the peer is gone; attend reports it when the ring is dry.
func (q *qp) end(s verbs.Status) {
	if q.closing {
		return
	}
	q.closing, q.status = true, s
	q.dev.closing = append(q.dev.closing, q)
	q.dev.attention.Store(true)
}

// Close implements verbs.QP.
func (q *qp) Close() error {
	if q.state == qpClosed {
		return verbs.ErrClosed
	}
	q.flush(verbs.StatusFlushed)
	q.state = qpClosed
	q.dev.forget(q)
	return nil
}

// flush ends the reads that are in flight, and those of the peer from us.
func (q *qp) flush(s verbs.Status) {
	q.dropServes()
	for i, r := range q.dev.inFlight {
		if r.qp == q {
			r.finish(i, s)
		}
	}
	q.dev.releaseRegions(q.theirs)
	q.dev.releaseChunks(q)
}
