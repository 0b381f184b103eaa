//go:build ibv && cgo && linux

package ibv

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// A request's wr_id is a tag, the index of its queue, and a slot or a sequence
// number: after an error nothing else of a completion can be believed.
const (
	recvTag    = 1 << 63
	indexShift = 32
	indexMask  = 1<<31 - 1
)

// recvQueue is a pool of slots, registered once, and the queue that hands them to
// messages: a shared one, or that of the one queue pair that uses it.
type recvQueue struct {
	dev    *device
	index  int
	cfg    verbs.RQConfig
	stride int
	pool   []byte
	reg    *region
	srq    srqHandle
	qp     *queuePair // of a private queue
	posted int
	free   []bool // slots that are with the caller
	batch  []int32
	cq     atomic.Pointer[compQueue] // of the first queue pair: where OpLow goes
	fired  atomic.Bool               // set by the event, taken by Repost
}

func (d *device) NewRQ(cfg verbs.RQConfig) (verbs.RQ, error) {
	switch {
	case d.closed:
		return nil, verbs.ErrClosed
	case cfg.Slots <= 0 || cfg.SlotSize <= 0 || cfg.Low < 0 || cfg.Low > cfg.Slots:
		return nil, fmt.Errorf("%w: receive queue of %d slots of %d bytes", verbs.ErrInvalid, cfg.Slots, cfg.SlotSize)
	}
	q := &recvQueue{dev: d, index: len(d.rqs), cfg: cfg, stride: (cfg.SlotSize + 63) &^ 63, free: make([]bool, cfg.Slots)}
	var err error
	if q.pool, err = unix.Mmap(-1, 0, q.stride*cfg.Slots, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
		return nil, fmt.Errorf("%w: %w", verbs.ErrNoMemory, err)
	}
	if q.reg, err = d.register(q.pool, verbs.AccessLocal); err == nil && cfg.Shared {
		if q.srq, err = d.adapter.newSRQ(cfg.Slots); err == nil {
			err = q.postAll()
		}
		if err == nil && cfg.Low > 0 {
			err = limitSRQ(q.srq, cfg.Low)
		}
	}
	if err != nil {
		q.close()
		return nil, err
	}
	d.rqs = append(d.rqs, q)
	if q.srq != nil {
		d.mu.Lock()
		d.bySRQ[srqID(q.srq)] = q
		d.mu.Unlock()
	}
	return q, nil
}

func (q *recvQueue) postAll() error {
	all := make([]int32, q.cfg.Slots)
	for i := range all {
		all[i] = int32(i)
	}
	return q.post(all)
}

func (q *recvQueue) post(slots []int32) error {
	var qp qpHandle
	if q.qp != nil {
		qp = q.qp.h
	}
	err := postSlots(q.srq, qp, slots, recvTag|uint64(q.index)<<indexShift, q.reg.base, q.stride, q.cfg.SlotSize, q.reg.key)
	if err == nil {
		q.posted += len(slots)
	}
	return err
}

// Repost gives slots back to the adapter in one crossing.
func (q *recvQueue) Repost(slots []verbs.Slot) {
	q.batch = q.batch[:0]
	for _, s := range slots {
		if s < 0 || int(s) >= len(q.free) || !q.free[s] {
			panic(fmt.Sprintf("verbs/ibv: slot %d reposted, which is not with the caller", s))
		}
		q.free[s] = false
		q.batch = append(q.batch, int32(s))
	}
	if q.dev.closed || q.srq == nil && (q.qp == nil || q.qp.destroyed) {
		return
	}
	if err := q.post(q.batch); err != nil {
		return // only a dead adapter refuses: its event tells
	}
	if q.fired.Load() && q.posted >= q.cfg.Low {
		q.fired.Store(false)
		if q.srq != nil {
			_ = limitSRQ(q.srq, q.cfg.Low)
		}
	}
}

// Posted doesn't know which slots the adapter has taken for messages that have
// not been polled.
func (q *recvQueue) Posted() int { return q.posted }

// take lends the slot of a completion, and returns its bytes.
func (q *recvQueue) take(slot, n int) []byte {
	q.posted--
	q.free[slot] = true
	at := slot * q.stride
	return q.pool[at : at+n : at+n]
}

// watch does for a private queue what the adapter does for a shared one: it notes
// the fall below the limit.
func (q *recvQueue) watch(cq *compQueue) {
	if q.srq == nil && q.posted < q.cfg.Low && !q.fired.Load() {
		q.fired.Store(true)
		cq.note(verbs.Completion{QP: q.qp.num, Slot: verbs.NoSlot, Op: verbs.OpLow})
	}
}

// badReceive takes back the slot of a receive that failed. The queue pair is
// broken by that, or was: its end is told, and the slot isn't.
func (d *device) badReceive(q *recvQueue, s verbs.Slot, qpn uint32, status uint8) {
	if status != wcFlushed {
		d.mu.Lock()
		qp := d.byNum[qpn]
		d.mu.Unlock()
		if qp != nil {
			qp.fail(statusOf(verbs.OpRecv, status), true)
		}
	}
	if q.srq != nil {
		q.Repost([]verbs.Slot{s})
	}
}

func (q *recvQueue) close() error {
	var err error
	if q.srq != nil {
		q.dev.mu.Lock()
		delete(q.dev.bySRQ, srqID(q.srq))
		q.dev.mu.Unlock()
		err = closeSRQ(q.srq)
	}
	if q.reg != nil {
		if e := q.reg.Close(); err == nil {
			err = e
		}
	}
	if e := unix.Munmap(q.pool); err == nil {
		err = e
	}
	return err
}
