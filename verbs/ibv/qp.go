//go:build ibv && cgo && linux

package ibv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/verbena-mpi/verbena/verbs"
)

// state of a queue pair's connection.
type state uint32

const (
	idle    state = iota // no Connect yet
	named                // the peer is known; nobody asked for the connection
	dialing              // this end asked
	half                 // ready to send; the peer may not be ready to receive
	open
	broken
	closed
)

const (
	defaultDepth = 64
	hdrSize      = 64 // longest header of a send that isn't inline
)

// queuePair is a reliable connected queue pair. The send ring is the caller's;
// what connects and breaks it is guarded by mu and told by state.
type queuePair struct {
	dev      *device
	index    int
	num      uint32
	inline   int
	depth    int
	scq, rcq *compQueue
	rq       *recvQueue

	ring       []sent // by sequence number, a power of two of at least depth
	head, tail uint32 // posted: [head, tail)
	quiet      int    // posted since the last one that completes
	out        [batch]sendWR
	hdrs       *region // hdrSize bytes for each of ring, made when needed

	state     atomic.Uint32
	key       endKey
	at        address
	psn       uint32
	longest   int  // message that the other end's slots hold; written before half
	sPolled   bool // of a closed one: nothing of it is in its queues
	rPolled   bool
	mu        sync.Mutex
	h         qpHandle
	destroyed bool
	links     []*link
}

// sent is a posted request: after an error a completion tells only its wr_id.
type sent struct {
	id    uint64
	op    verbs.Op
	flags verbs.Flags
}

func (d *device) NewQP(cfg verbs.QPConfig) (verbs.QP, error) {
	if d.closed {
		return nil, verbs.ErrClosed
	}
	scq, ok1 := cfg.SendCQ.(*compQueue)
	rcq, ok2 := cfg.RecvCQ.(*compQueue)
	rq, ok3 := cfg.RQ.(*recvQueue)
	if !ok1 || !ok2 || !ok3 || scq.dev != d || rcq.dev != d || rq.dev != d {
		return nil, fmt.Errorf("%w: queues of another device", verbs.ErrInvalid)
	}
	if rq.qp != nil {
		return nil, fmt.Errorf("%w: a private receive queue is in use", verbs.ErrInvalid)
	}
	if cfg.Depth == 0 {
		cfg.Depth = defaultDepth
	}
	if cfg.Depth < 0 || cfg.Depth > int(d.adapter.caps.max_qp_wr) {
		return nil, fmt.Errorf("%w: depth %d", verbs.ErrInvalid, cfg.Depth)
	}
	q := &queuePair{dev: d, depth: cfg.Depth, scq: scq, rcq: rcq, rq: rq, psn: rand.Uint32() & (1<<24 - 1)}
	size := 1
	for size < q.depth {
		size *= 2
	}
	q.ring = make([]sent, size)
	if err := q.create(cfg.Inline); err != nil {
		return nil, err
	}
	d.addQP(q)
	return q, nil
}

// create makes room in the completion queues, and the queue pair itself.
func (q *queuePair) create(inline int) error {
	err := q.rcq.feed(q.rq)
	if err == nil {
		err = q.scq.reserve(q.depth)
	}
	if err != nil {
		return err
	}
	q.h, q.inline, err = q.dev.inlineQP(q.scq, q.rcq, q.rq.srq, q.depth, q.rq.cfg.Slots, inline)
	if err == nil && q.rq.srq == nil {
		q.rq.qp = q
		if err = q.rq.postAll(); err != nil {
			q.rq.qp = nil
			_ = closeQP(q.h)
		}
	}
	if err != nil {
		q.scq.need -= q.depth
		return err
	}
	q.num = qpNum(q.h)
	q.rq.cq.CompareAndSwap(nil, q.rcq)
	return nil
}

// inlineQP asks for less inline room until the adapter makes the queue pair: some
// refuse what is too much instead of granting what they have.
func (d *device) inlineQP(scq, rcq *compQueue, srq srqHandle, depth, slots, inline int) (qpHandle, int, error) {
	for {
		h, granted, err := d.adapter.newQP(scq.h, rcq.h, srq, depth, slots, inline)
		if err == nil || inline == 0 || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOMEM) {
			return h, granted, err
		}
		d.count.inlineRetries.Add(1)
		less := 1
		for less*2 < inline {
			less *= 2
		}
		if inline = less; inline < 16 {
			inline = 0
		}
	}
}

func (q *queuePair) Num() uint32  { return q.num }
func (q *queuePair) Inline() int  { return q.inline }
func (q *queuePair) Abort(uint64) {} // nobody revokes a read: its own completion follows

// Close stops the queue pair. Its flushed requests are polled as usual, and then
// it goes.
func (q *queuePair) Close() error {
	old := state(q.state.Swap(uint32(closed)))
	if old == closed {
		return verbs.ErrClosed
	}
	if old == half {
		q.dev.half.Add(-1)
	}
	q.dev.forget(q)
	q.mu.Lock()
	err := failQP(q.h)
	links := q.links
	q.mu.Unlock()
	if old != broken {
		for _, l := range links {
			l.send(frame{kind: end, status: verbs.StatusPeerClosed, from: q.key.local, to: q.key.remote})
		}
	}
	q.dev.reap = append(q.dev.reap, q)
	return err
}

// destroy ends it for good.
func (q *queuePair) destroy() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.destroyed {
		return nil
	}
	q.destroyed = true
	err := closeQP(q.h)
	if q.hdrs != nil {
		if e := q.hdrs.Close(); err == nil {
			err = e
		}
	}
	return err
}
