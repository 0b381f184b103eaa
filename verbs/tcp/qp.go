//go:build linux

package tcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

type qpState uint8

const (
	qpNew        qpState = iota
	qpConfigured         // Connect was called; the first PostSend dials
	qpConnecting         // something was posted, and no connection stands
	qpReady
	qpFailed
	qpClosed
)

// labels name a connection's two ends, seen from here.
type labels struct{ local, remote uint32 }

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

	labels labels
	peer   []byte // the address
	device deviceID

	// Connecting: see connect.go.
	conn       *conn              // the chosen one
	candidates []*conn            // of which the peer chooses
	stop       context.CancelFunc // of the dial under way, which ends by itself too
	since      time.Time          // of the first post, or the dial's end
	dialed     bool
	slotSize   int // the peer's

	ring  ring
	owing bool // in the device's list
	reads reads

	serves []serve
	turn   int
	served bool // in the device's list
	rails  []*conn
	railed bool // rails were dialed
}

// smallInline is the least that is granted. A post copies what the socket has no room
// for in any case, so every size that can be sent is inline.
const smallInline = 256

// defaultDepth is the depth of a send queue for which none was asked.
const defaultDepth = 64

// NewQP implements verbs.Device.
func (d *Device) NewQP(c verbs.QPConfig) (verbs.QP, error) {
	if d.closed || d.dead {
		return nil, verbs.ErrClosed
	}
	s, ok1 := c.SendCQ.(*cq)
	r, ok2 := c.RecvCQ.(*cq)
	queue, ok3 := c.RQ.(*rq)
	if !ok1 || !ok2 || !ok3 || s.dev != d || r.dev != d || queue.dev != d {
		return nil, errWrongQueue
	}
	if c.Depth < 0 || c.Depth > 1<<20 || c.Inline < 0 {
		return nil, fmt.Errorf("%w: tcp: queue pair depth %d, inline %d", verbs.ErrInvalid, c.Depth, c.Inline)
	}
	if !queue.shared && queue.users > 0 {
		return nil, fmt.Errorf("%w: tcp: the receive queue is not shared and has its queue pair", verbs.ErrInvalid)
	}
	d.lastQP++
	q := &qp{
		dev: d, num: d.lastQP, sendCQ: s, recvCQ: r, rq: queue, depth: c.Depth,
		inline: min(max(queue.slotSize, smallInline, c.Inline), maxSend),
	}
	if q.depth == 0 {
		q.depth = defaultDepth
	}
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
		return 0, q.postEarly(len(wrs))
	}
	c, w := q.conn, &q.dev.writing
	w.mu.Lock()
	idle := c.out.empty()
	for n < len(wrs) {
		if err = q.post(&wrs[n]); err != nil {
			break
		}
		n++
	}
	if c.out.size() > 0 && !c.out.blocked {
		c.settle(idle)
	}
	left := c.out.left
	w.mu.Unlock()
	if n > 0 {
		q.retire(left)
		if q.ring.len() > 0 && !q.owing {
			q.owing = true
			q.dev.owing = append(q.dev.owing, q)
		}
	}
	return n, err
}

// postEarly starts the connection.
func (q *qp) postEarly(n int) error {
	switch q.state {
	case qpConfigured:
		q.start()
	case qpConnecting:
	default:
		return verbs.ErrState
	}
	if n == 0 {
		return nil
	}
	return verbs.ErrFull
}

// post takes a request. The lock of the outboxes is held.
func (q *qp) post(wr *verbs.SendWR) error {
	switch wr.Op {
	case verbs.OpSend:
		if err := q.sendable(wr); err != nil {
			return err
		}
	case verbs.OpRead:
		if err := readable(wr); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: tcp: request %v", verbs.ErrInvalid, wr.Op)
	}
	c := q.conn
	if q.full(wr) {
		// Perhaps for want of a write.
		c.flush()
		q.retire(c.out.left)
		if q.full(wr) {
			return verbs.ErrFull
		}
	}
	if wr.Op == verbs.OpRead {
		return q.read(wr)
	}
	c.send(wr)
	q.push(entry{id: wr.ID, end: c.out.queued, op: verbs.OpSend, signaled: wr.Flags&verbs.Signaled != 0})
	return nil
}

// full says that the request must wait for another's end.
func (q *qp) full(wr *verbs.SendWR) bool {
	return q.ring.len() >= q.depth || q.conn.out.size() >= outMost || wr.Flags&verbs.Signaled != 0 && q.sendCQ.full() ||
		wr.Op == verbs.OpRead && q.reads.full(q.depth)
}

// push adds a request.
func (q *qp) push(e entry) (number uint64) {
	if e.signaled {
		q.sendCQ.held++
	}
	return q.ring.push(e)
}

// retire completes the requests that are done, in the order in which they were
// posted. Left is how much of the outbox has left.
func (q *qp) retire(left uint64) {
	for q.ring.len() > 0 {
		e := q.ring.front()
		if e.op == verbs.OpSend && e.end > left || e.op == verbs.OpRead && !e.done {
			return
		}
		q.complete(e, e.status)
	}
}

// retireNow is retire.
func (q *qp) retireNow() {
	if c := q.conn; c != nil {
		q.dev.writing.mu.Lock()
		left := c.out.left
		q.dev.writing.mu.Unlock()
		q.retire(left)
	}
}

// complete ends the oldest request.
func (q *qp) complete(e *entry, s verbs.Status) {
	if e.signaled {
		q.sendCQ.held--
	}
	if e.signaled || s != verbs.StatusOK {
		q.sendCQ.push(verbs.Completion{ID: e.id, QP: q.num, Slot: verbs.NoSlot, Op: e.op, Status: s}, e.op == verbs.OpRead)
	}
	q.ring.pop()
}

// fail moves the queue pair to the error state, and says why. All that its peer had
// sent has been taken, unless the peer can't be believed.
func (q *qp) fail(s verbs.Status) {
	if q.state == qpFailed || q.state == qpClosed {
		return
	}
	q.state = qpFailed
	q.retireNow()
	q.hangUp((*conn).shut)
	of := s
	if s == verbs.StatusPeerClosed {
		of = verbs.StatusFlushed
	}
	q.dev.pairings.set(q.labels, pairing{peer: q.device, failed: true})
	q.flush(of)
	q.recvCQ.push(verbs.Completion{QP: q.num, Slot: verbs.NoSlot, Op: verbs.OpClosed, Status: s}, true)
}

// hangUp ends all connections.
func (q *qp) hangUp(end func(*conn)) {
	if q.stop != nil {
		q.stop()
		q.stop = nil
	}
	q.stopServing()
	for _, c := range slices.Concat(q.candidates, q.rails) {
		end(c)
	}
	if c := q.conn; c != nil {
		if slot := c.in.msg.Slot; c.in.kind == kindSend {
			q.rq.untake(slot)
		}
		q.conn = nil
		end(c)
	}
}

// flush ends all requests.
func (q *qp) flush(s verbs.Status) {
	for q.ring.len() > 0 {
		e := q.ring.front()
		if e.done {
			q.complete(e, e.status)
		} else {
			q.complete(e, s)
		}
	}
	q.reads.clear()
}

// Close implements verbs.QP.
func (q *qp) Close() error {
	if q.state == qpClosed || q.dev.closed {
		return verbs.ErrClosed
	}
	if c := q.conn; c != nil && q.state == qpReady {
		q.dev.writing.mu.Lock()
		c.flush()
		q.dev.writing.mu.Unlock()
		q.retireNow()
	}
	if q.dev.dead {
		q.hangUp((*conn).shut)
	} else {
		q.hangUp((*conn).leave)
	}
	q.flush(verbs.StatusFlushed)
	q.recvCQ.forget(q)
	d := q.dev
	if q.state != qpNew {
		delete(d.labels, q.labels)
	}
	if q.state != qpNew && q.state != qpFailed {
		d.pairings.set(q.labels, pairing{peer: q.device, ended: true})
	}
	q.state = qpClosed
	d.qps = slices.DeleteFunc(d.qps, func(o *qp) bool { return o == q })
	d.owing = slices.DeleteFunc(d.owing, func(o *qp) bool { return o == q })
	q.rq.users--
	return nil
}
