package inproc

import (
	"fmt"
	"time"

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

// connKey names a connection as its own end sees it.
type connKey struct {
	peer          int
	local, remote uint32
}

// queuePair is a QP.
type queuePair struct {
	dev    *Device
	num    uint32
	depth  int
	sendCQ *completionQueue
	recvCQ *completionQueue
	rq     *recvQueue

	state state
	key   connKey
	peer  *queuePair // once connected
	timer *time.Timer

	posted  uint64 // requests, so far
	covered uint64 // by completions that were polled
	full    bool   // ErrFull was the answer while there was no connection
	waits   bool   // it is in the list of its peer's receive queue
}

// defaultDepth is the depth of a send queue for which none was asked.
const defaultDepth = 64

// NewQP implements verbs.Device.
func (d *Device) NewQP(cfg verbs.QPConfig) (verbs.QP, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if cfg.Depth < 0 || cfg.Inline < 0 {
		return nil, fmt.Errorf("%w: inproc: queue pair of depth %d, %d bytes inline", verbs.ErrInvalid, cfg.Depth, cfg.Inline)
	}
	q := &queuePair{dev: d, num: d.nextQP, depth: cfg.Depth}
	if q.depth == 0 {
		q.depth = defaultDepth
	}
	var ok1, ok2, ok3 bool
	q.sendCQ, ok1 = cfg.SendCQ.(*completionQueue)
	q.recvCQ, ok2 = cfg.RecvCQ.(*completionQueue)
	q.rq, ok3 = cfg.RQ.(*recvQueue)
	if !ok1 || !ok2 || !ok3 || q.sendCQ.dev != d || q.recvCQ.dev != d || q.rq.dev != d {
		return nil, fmt.Errorf("%w: inproc: queues of another device", verbs.ErrInvalid)
	}
	if q.rq.users > 0 && !q.rq.cfg.Shared {
		return nil, fmt.Errorf("%w: inproc: a second queue pair on a receive queue that is not shared", verbs.ErrInvalid)
	}
	q.rq.users++
	d.nextQP++
	d.qps = append(d.qps, q)
	return q, nil
}

// Num implements verbs.QP.
func (q *queuePair) Num() uint32 { return q.num }

// Inline implements verbs.QP.
func (q *queuePair) Inline() int { return maxSend }

// Connect implements verbs.QP.
func (q *queuePair) Connect(peer []byte, local, remote uint32) error {
	id, err := parseAddress(peer)
	if err != nil {
		return err
	}
	d := q.dev
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if q.state != idle {
		return fmt.Errorf("%w: inproc: queue pair %d is connected already", verbs.ErrState, q.num)
	}
	key := connKey{id, local, remote}
	if d.conns[key] != nil {
		return fmt.Errorf("%w: inproc: labels %d→%d are in use", verbs.ErrInvalid, local, remote)
	}
	q.key, q.state = key, configured
	d.conns[key] = q
	if p := q.other(); p != nil && p.state == connecting {
		join(q, p)
	}
	return nil
}

// other is the other end, if it has called Connect.
func (q *queuePair) other() *queuePair {
	d := q.dev.net.device(q.key.peer)
	if d == nil {
		return nil
	}
	return d.conns[connKey{q.dev.id, q.key.remote, q.key.local}]
}

// start begins to connect: at once, or when the other end has called Connect.
func (q *queuePair) start() {
	q.state = connecting
	if q.dev.net.device(q.key.peer) == nil {
		q.fail(verbs.StatusRefused)
		return
	}
	if p := q.other(); p != nil {
		join(q, p)
		return
	}
	q.timer = time.AfterFunc(q.dev.net.timeout, func() {
		q.dev.net.mu.Lock()
		defer q.dev.net.mu.Unlock()
		if q.state == connecting {
			q.fail(verbs.StatusRefused)
		}
	})
}

// join makes the connection stand.
func join(q, p *queuePair) {
	q.peer, p.peer = p, q
	for _, e := range []*queuePair{q, p} {
		e.state = connected
		e.stopTimer()
		if e.full {
			e.full = false
			e.sendCQ.makeRoom()
		}
	}
}

func (q *queuePair) stopTimer() {
	if q.timer != nil {
		q.timer.Stop()
	}
}

// Close implements verbs.QP.
func (q *queuePair) Close() error {
	q.dev.net.mu.Lock()
	defer q.dev.net.mu.Unlock()
	q.close(verbs.StatusPeerClosed)
	return nil
}

// close takes the queue pair down; the peer sees the status.
func (q *queuePair) close(st verbs.Status) {
	d := q.dev
	for i, o := range d.qps {
		if o != q {
			continue
		}
		d.qps = append(d.qps[:i], d.qps[i+1:]...)
		q.down(st)
		q.rq.users--
		q.recvCQ.drop(q)
		return
	}
}

// fail ends the queue pair for its own side, which is told why. What was posted
// has happened already.
func (q *queuePair) fail(why verbs.Status) {
	if q.state == failed {
		return
	}
	q.down(verbs.StatusPeerClosed)
	q.recvCQ.push(entry{qp: q, c: verbs.Completion{QP: q.num, Op: verbs.OpClosed, Status: why, Slot: verbs.NoSlot}})
}

// down ends the connection, for the peer with that status.
func (q *queuePair) down(st verbs.Status) {
	if q.state == failed {
		return
	}
	was := q.state
	q.state = failed
	q.stopTimer()
	if was != idle {
		delete(q.dev.conns, q.key)
	}
	if was == connected {
		q.peer.fail(st)
	}
}
