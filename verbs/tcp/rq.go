//go:build linux

package tcp

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// rq is a receive queue: slots for the messages that are not lent from a buffer.
type rq struct {
	dev      *Device
	slotSize int
	stride   int
	mem      []byte
	lent     []bool
	free     []verbs.Slot // the one given back last is taken first: it is in the cache
	mark     int          // see verbs.RQConfig.Low
	fired    bool         // OpLow was reported, and the mark not crossed upwards since
	shared   bool
	users    int
	waiting  []*conn // that found no slot
}

// NewRQ implements verbs.Device. Slots that are never taken cost no memory.
func (d *Device) NewRQ(c verbs.RQConfig) (verbs.RQ, error) {
	if d.closed || d.dead {
		return nil, verbs.ErrClosed
	}
	if c.Slots < 1 || c.SlotSize < 1 || c.Slots > 1<<20 || c.SlotSize > maxSend || c.Low < 0 || c.Low > c.Slots {
		return nil, fmt.Errorf("%w: tcp: receive queue %+v (slots up to %d bytes)", verbs.ErrInvalid, c, maxSend)
	}
	r := &rq{
		dev: d, slotSize: c.SlotSize, stride: (c.SlotSize + 63) &^ 63, lent: make([]bool, c.Slots),
		free: make([]verbs.Slot, 0, c.Slots), mark: c.Low, shared: c.Shared,
	}
	if int64(r.stride)*int64(c.Slots) > 1<<40 {
		return nil, fmt.Errorf("%w: tcp: receive queue %+v", verbs.ErrNoMemory, c)
	}
	r.mem = make([]byte, r.stride*c.Slots)
	for i := c.Slots - 1; i >= 0; i-- {
		r.free = append(r.free, verbs.Slot(i))
	}
	return r, nil
}

// take takes a slot, if one is posted.
func (r *rq) take() (verbs.Slot, bool) {
	if len(r.free) == 0 {
		return 0, false
	}
	s := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	r.lent[s] = true
	return s, true
}

// untake posts a slot again that no message has come to fill.
func (r *rq) untake(s verbs.Slot) { r.Repost([]verbs.Slot{s}) }

// low says whether OpLow is to be reported now.
func (r *rq) low() bool {
	if r.fired || len(r.free) >= r.mark {
		return false
	}
	r.fired = true
	return true
}

func (r *rq) view(s verbs.Slot, n int) []byte {
	at := int(s) * r.stride
	return r.mem[at : at+n : at+n]
}

// Repost implements verbs.RQ. Connections that wait for slots are looked at in the
// order in which they came.
func (r *rq) Repost(list []verbs.Slot) {
	for _, s := range list {
		if s < 0 || int(s) >= len(r.lent) || !r.lent[s] {
			continue
		}
		r.lent[s] = false
		r.free = append(r.free, s)
	}
	if len(r.free) >= r.mark {
		r.fired = false
	}
	if len(r.waiting) == 0 || len(r.free) == 0 {
		return
	}
	waiting := r.waiting
	r.waiting = nil
	for _, c := range waiting {
		c.resume()
	}
}

// Posted implements verbs.RQ.
func (r *rq) Posted() int { return len(r.free) }
