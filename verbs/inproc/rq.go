package inproc

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// recvQueue is an RQ: slots, taken in the order in which they were posted.
type recvQueue struct {
	dev     *Device
	cfg     verbs.RQConfig
	mem     []byte
	stride  int
	free    []verbs.Slot
	taken   []int        // per slot: bytes lent, or -1 where it is posted
	low     bool         // the watermark is armed
	users   int          // queue pairs
	waiting []*queuePair // senders that found no slot
}

// NewRQ implements verbs.Device.
func (d *Device) NewRQ(cfg verbs.RQConfig) (verbs.RQ, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if cfg.Slots <= 0 || cfg.SlotSize <= 0 || cfg.Low < 0 || cfg.Low > cfg.Slots {
		return nil, fmt.Errorf("%w: inproc: receive queue %+v", verbs.ErrInvalid, cfg)
	}
	rq := &recvQueue{dev: d, cfg: cfg, stride: (cfg.SlotSize + 7) &^ 7, low: cfg.Low > 0}
	rq.mem = make([]byte, rq.stride*cfg.Slots) // a multiple of 8, and so 8-aligned
	rq.taken = make([]int, cfg.Slots)
	for i := range cfg.Slots {
		rq.free = append(rq.free, verbs.Slot(i))
		rq.taken[i] = -1
	}
	return rq, nil
}

// Posted implements verbs.RQ.
func (rq *recvQueue) Posted() int {
	rq.dev.net.mu.Lock()
	defer rq.dev.net.mu.Unlock()
	return len(rq.free)
}

// Repost implements verbs.RQ. A slot that is posted already is the caller's
// mistake, and panics.
func (rq *recvQueue) Repost(slots []verbs.Slot) {
	rq.dev.net.mu.Lock()
	defer rq.dev.net.mu.Unlock()
	for _, s := range slots {
		if s < 0 || int(s) >= len(rq.taken) || rq.taken[s] < 0 {
			panic(fmt.Sprintf("inproc: repost of slot %d, which is not taken", s))
		}
		rq.repost(s)
	}
}

// repost spoils the slot's memory, as an adapter might from now on, and tells the
// senders that waited for one.
func (rq *recvQueue) repost(s verbs.Slot) {
	view := rq.view(s, rq.taken[s])
	for i := range view {
		view[i] = 0xdb
	}
	rq.taken[s] = -1
	rq.free = append(rq.free, s)
	if rq.cfg.Low > 0 && len(rq.free) >= rq.cfg.Low {
		rq.low = true
	}
	for _, q := range rq.waiting {
		q.waits = false
		q.sendCQ.makeRoom()
	}
	clear(rq.waiting)
	rq.waiting = rq.waiting[:0]
}

// view is the first n bytes of a slot.
func (rq *recvQueue) view(s verbs.Slot, n int) []byte {
	at := int(s) * rq.stride
	return rq.mem[at : at+n : at+n]
}

// take gives a posted slot to a message of n bytes, if there is one.
func (rq *recvQueue) take(n int) (s verbs.Slot, ok bool) {
	if len(rq.free) == 0 {
		return verbs.NoSlot, false
	}
	s = rq.free[0]
	rq.free = rq.free[:copy(rq.free, rq.free[1:])]
	rq.taken[s] = n
	return s, true
}

// wait has q told when there is a slot.
func (rq *recvQueue) wait(q *queuePair) {
	if !q.waits {
		q.waits = true
		rq.waiting = append(rq.waiting, q)
	}
}

// crossed says whether the last take went below the watermark; it says so once.
func (rq *recvQueue) crossed() bool {
	if !rq.low || len(rq.free) >= rq.cfg.Low {
		return false
	}
	rq.low = false
	return true
}
