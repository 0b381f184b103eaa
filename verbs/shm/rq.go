//go:build linux

package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/verbena-mpi/verbena/verbs"
)

// poolInfo says where a receive queue lies in its owner's segment.
type poolInfo struct {
	Off      uint64 // of the pool; its owner words and slots follow
	Slots    uint32
	SlotSize uint32
}

// poolLayout returns where the slots begin, their stride and the size of all.
func (p poolInfo) layout() (slotsOff, stride, size int) {
	slotsOff = align(pairSize+4*int(p.Slots), pageSize)
	stride = align(int(p.SlotSize), lineSize)
	return slotsOff, stride, slotsOff + int(p.Slots)*stride
}

func (p poolInfo) check(segment int) error {
	if p.Slots == 0 || p.Slots > 1<<20 || p.SlotSize == 0 || p.SlotSize > 1<<16-1 || p.Off%lineSize != 0 {
		return fmt.Errorf("shm: a receive queue of %d slots of %d bytes at %d", p.Slots, p.SlotSize, p.Off)
	}
	if _, _, size := p.layout(); p.Off > uint64(segment) || uint64(segment)-p.Off < uint64(size) {
		return fmt.Errorf("shm: a receive queue of %d bytes at %d in a segment of %d", size, p.Off, segment)
	}
	return nil
}

// slots is one side's view of a receive queue.
type slots struct {
	want   *atomic.Uint32
	owners []atomic.Uint32
	mem    []byte
	stride int
	size   int
}

func (p poolInfo) view(segment []byte) slots {
	slotsOff, stride, size := p.layout()
	return slots{
		want:   &view[pool](segment, int(p.Off)).want,
		owners: views[atomic.Uint32](segment, int(p.Off)+pairSize, int(p.Slots)),
		mem:    segment[int(p.Off)+slotsOff : int(p.Off)+size],
		stride: stride,
		size:   int(p.SlotSize),
	}
}

func (s *slots) at(i uint32, n int) []byte {
	off := int(i) * s.stride
	return s.mem[off : off+n : off+n]
}

// free says whether a slot is free.
func (s *slots) free() bool {
	for i := range s.owners {
		if s.owners[i].Load() == slotFree {
			return true
		}
	}
	return false
}

// rq is a receive queue of this device.
type rq struct {
	dev    *Device
	info   poolInfo
	s      slots
	posted int  // slots that are free, as far as the owner knows: claimed ones count until they arrive
	low    int  // see verbs.RQConfig.Low
	fired  bool // OpLow was reported, and the mark not crossed upwards since
	shared bool
	users  int
}

// NewRQ implements verbs.Device.
func (d *Device) NewRQ(c verbs.RQConfig) (verbs.RQ, error) {
	if d.closed {
		return nil, verbs.ErrClosed
	}
	info := poolInfo{Off: uint64(align(d.used, pageSize)), Slots: uint32(c.Slots), SlotSize: uint32(c.SlotSize)}
	if c.Slots < 1 || c.SlotSize < 1 || c.Slots > 1<<20 || c.SlotSize > 1<<16-1 || c.Low < 0 || c.Low > c.Slots {
		return nil, fmt.Errorf("%w: shm: receive queue %+v (slots up to 65535 bytes)", verbs.ErrInvalid, c)
	}
	if err := info.check(len(d.seg)); err != nil {
		return nil, fmt.Errorf("%w: %w: raise the device's memory, or use a shared queue", verbs.ErrNoMemory, err)
	}
	_, _, size := info.layout()
	d.used = int(info.Off) + size
	r := &rq{dev: d, info: info, s: info.view(d.seg), posted: c.Slots, low: c.Low, shared: c.Shared}
	d.rqs = append(d.rqs, r)
	return r, nil
}

// Repost implements verbs.RQ. A batch costs hardly more than one: the owner
// words of neighbouring slots share a line, and a sender that claims from it
// takes that line away.
func (r *rq) Repost(list []verbs.Slot) {
	if r.dev.closed {
		return
	}
	for _, s := range list {
		if uint(s) >= uint(len(r.s.owners)) || r.s.owners[s].Load() != slotLent {
			continue // not lent: reposted already, or taken back with its device
		}
		// The store publishes that the slot's bytes were read; the sender's
		// compare-and-swap in claim sees it before it overwrites them.
		r.s.owners[s].Store(slotFree)
		r.posted++
	}
	if r.posted >= r.low {
		r.fired = false
	}
	// A sender sets want and looks for a slot once more; we free slots and
	// look at want: one of us sees the other.
	if r.s.want.Load() != 0 && r.s.want.Swap(0) != 0 {
		r.dev.wakeWanting()
	}
}

// Posted implements verbs.RQ.
func (r *rq) Posted() int { return r.posted }

// lend takes the slot that a peer has published. It returns nil if the slot is
// not that peer's, or too small.
func (r *rq) lend(i uint32, n int, peer uint32) []byte {
	if int(i) >= len(r.s.owners) || n > r.s.size || !r.s.owners[i].CompareAndSwap(peer, slotLent) {
		return nil
	}
	r.posted--
	return r.s.at(i, n)
}

// reclaim frees the slots that a dead peer had claimed and not published.
func (r *rq) reclaim(peer uint32) {
	for i := range r.s.owners {
		r.s.owners[i].CompareAndSwap(peer, slotFree)
	}
	if r.s.want.Swap(0) != 0 {
		r.dev.wakeWanting()
	}
}

// claim takes a free slot of the peer's queue, at or after the cursor: slots
// rotate, since one that was just read still lies in the reader's cache.
func (q *qp) claim() (uint32, bool) {
	owners := q.slots.owners
	i := q.cursor
	for range owners {
		if i == len(owners) {
			i = 0
		}
		o := &owners[i]
		if o.Load() == slotFree && o.CompareAndSwap(slotFree, q.mine) {
			q.cursor = i + 1
			return uint32(i), true
		}
		i++
	}
	return 0, false
}
