package sim

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// state is where a queue pair is in its life.
type state uint8

const (
	idle       state = iota
	configured       // Connect was called
	connecting       // the first PostSend was made
	connected
	failed // or closed: nothing moves any more
)

// queuePair is a QP: a send queue, and the serving side of the peer's.
type queuePair struct {
	dev    *Device
	num    uint32
	inline int
	depth  int
	sendCQ *completionQueue
	recvCQ *completionQueue
	rq     *recvQueue

	state state
	why   verbs.Status // it failed
	key   connKey
	peer  *queuePair // once connected
	dial  dialing

	sq     sendQueue
	serves responder
}

// smallInline is the inline size that costs nothing: two gathers of 16 bytes.
const smallInline = 32

// defaultDepth is the depth of a send queue for which none was asked.
const defaultDepth = 64

// NewQP implements verbs.Device.
func (d *Device) NewQP(cfg verbs.QPConfig) (verbs.QP, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	q := &queuePair{dev: d, num: d.nextQP, depth: cfg.Depth}
	setDefault(&q.depth, defaultDepth)
	q.inline = min(max(cfg.Inline, smallInline), d.cfg.MaxInline)
	var ok1, ok2, ok3 bool
	q.sendCQ, ok1 = cfg.SendCQ.(*completionQueue)
	q.recvCQ, ok2 = cfg.RecvCQ.(*completionQueue)
	q.rq, ok3 = cfg.RQ.(*recvQueue)
	if !ok1 || !ok2 || !ok3 || q.sendCQ.dev != d || q.recvCQ.dev != d || q.rq.dev != d {
		return nil, fmt.Errorf("%w: queues of another device", verbs.ErrInvalid)
	}
	if cfg.Depth < 0 || cfg.Inline < 0 {
		return nil, fmt.Errorf("%w: queue pair of depth %d, %d bytes inline", verbs.ErrInvalid, cfg.Depth, cfg.Inline)
	}
	if q.rq.users++; q.rq.users > 1 && !q.rq.cfg.Shared {
		q.rq.users--
		return nil, fmt.Errorf("%w: a second queue pair on a receive queue that is not shared", verbs.ErrInvalid)
	}
	q.sq.qp, q.serves.qp = q, q
	d.nextQP++
	d.qps = append(d.qps, q)
	return q, nil
}

// Num implements verbs.QP.
func (q *queuePair) Num() uint32 { return q.num }

// Inline implements verbs.QP.
func (q *queuePair) Inline() int { return q.inline }

// Close implements verbs.QP.
func (q *queuePair) Close() error {
	q.dev.net.mu.Lock()
	defer q.dev.net.mu.Unlock()
	q.close(verbs.StatusPeerClosed)
	return nil
}

// close takes the queue pair down. What is posted is flushed, and the peer
// sees the status.
func (q *queuePair) close(st verbs.Status) {
	if q.state != failed {
		q.down(nil, verbs.StatusOK, st)
	}
	d := q.dev
	for i, o := range d.qps {
		if o == q {
			d.qps = append(d.qps[:i], d.qps[i+1:]...)
			q.rq.users--
			break
		}
	}
}

// fail moves the queue pair to the error state: w ends with ws, the rest of
// what is posted is flushed, and OpClosed says why.
func (q *queuePair) fail(w *request, ws, why verbs.Status) {
	if q.state == failed {
		return
	}
	q.down(w, ws, why)
	q.recvCQ.push(entry{c: verbs.Completion{QP: q.num, Op: verbs.OpClosed, Status: why, Slot: verbs.NoSlot}})
}

// down ends the queue pair's traffic and tells the peer.
func (q *queuePair) down(w *request, ws, why verbs.Status) {
	q.note("down: "+why.String(), q.sq.done)
	if q.state == connected {
		q.control(&packet{kind: pktBye, status: why})
	}
	q.state, q.why = failed, why
	q.dial.timer.cancel()
	q.serves.stop()
	delete(q.dev.conns, q.key)
	q.sq.flush(w, ws)
}

// control sends a short packet to the peer.
func (q *queuePair) control(p *packet) {
	p.src, p.dst = q, q.peer
	q.dev.net.link(q.dev, q.peer.dev).control(p)
}
