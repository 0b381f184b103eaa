//go:build linux

package tcp

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// read is a read by this device. It is there until the peer has ended it, which may be
// after its request was: then it was aborted, and what still comes is dropped.
type read struct {
	qp     *qp
	name   uint32 // in frames: generation and index
	id     uint64
	number uint64 // of the request in the ring
	data   []byte // nil: aborted
	size   uint64
	got    uint64
	coming uint64 // parts under way
	most   uint64 // that come: fewer than size once the peer has ended it
	status verbs.Status
}

// A read's name is an index below maxReads, and above it a generation.
const (
	readBits = 10
	maxReads = 1 << readBits
	nameMask = 1<<(64-offsetBits) - 1
)

// reads are a queue pair's.
type reads struct {
	all  []*read // by index; those that are over have no size
	free []uint32
	gen  uint32
	open int
}

func (r *reads) full(depth int) bool { return r.open >= min(max(2*depth, 16), maxReads) }

func (r *reads) add() *read {
	if len(r.free) == 0 {
		r.free = append(r.free, uint32(len(r.all)))
		r.all = append(r.all, new(read))
	}
	i := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	r.gen++
	r.open++
	o := r.all[i]
	*o = read{name: (r.gen<<readBits | i) & nameMask}
	return o
}

func (r *reads) remove(o *read) {
	r.free = append(r.free, o.name&(maxReads-1))
	r.open--
	o.size = 0
}

// find returns the read that a frame is about, or nil.
func (r *reads) find(name uint32) *read {
	if i := name & (maxReads - 1); int(i) < len(r.all) {
		if o := r.all[i]; o.size != 0 && o.name == name {
			return o
		}
	}
	return nil
}

func (r *reads) clear() {
	for _, o := range r.all {
		o.data = nil
	}
	*r = reads{}
}

// readable checks a read.
func readable(wr *verbs.SendWR) error {
	switch {
	case wr.Flags&verbs.Inline != 0 || len(wr.Hdr) != 0:
		return fmt.Errorf("%w: tcp: a read with a header, or inline", verbs.ErrInvalid)
	case len(wr.Data) > maxRead:
		return fmt.Errorf("%w: tcp: a read of %d bytes, at most %d", verbs.ErrTooLong, len(wr.Data), int64(maxRead))
	}
	return nil
}

// read asks the peer. The lock of the outboxes is held.
func (q *qp) read(wr *verbs.SendWR) error {
	e := entry{id: wr.ID, op: verbs.OpRead, signaled: wr.Flags&verbs.Signaled != 0}
	if len(wr.Data) == 0 {
		e.done = true
		q.push(e)
		return nil
	}
	r := q.reads.add()
	r.qp, r.id, r.number, r.data, r.size = q, wr.ID, q.push(e), wr.Data, uint64(len(wr.Data))
	r.most = r.size
	o := &q.conn.out
	before := len(o.buf)
	o.buf = request{wr.Remote.Addr, wr.Remote.Key, r.size}.append(o.buf, r.name)
	o.queued += uint64(len(o.buf) - before)
	q.dev.count.asked++
	if len(wr.Data) >= railFrom && !q.railed {
		q.dialRails()
	}
	return nil
}

// takeData takes the header of a part of a read.
func (c *conn) takeData(h *header) error {
	r := c.qp.reads.find(h.name())
	if r == nil {
		return fmt.Errorf("%w: a part of a read that nobody asked for", errFrame)
	}
	n := uint64(h.length)
	if h.offset() > r.size || n > r.size-h.offset() || n > r.most-r.got-r.coming {
		return fmt.Errorf("%w: %d bytes at %d, after %d, of a read of %d", errFrame, n, h.offset(), r.got, r.most)
	}
	in := &c.in
	in.next += headerSize
	in.kind, in.read, in.left, in.pad, in.dst = kindData, r, int(n), align8(int(n))-int(n), nil
	in.part = n
	r.coming += n
	if r.data != nil {
		in.dst = r.data[h.offset():][:n]
	}
	return nil
}

// advance takes account of a part of n bytes that is there.
func (r *read) advance(n uint64) {
	r.got += n
	r.coming -= n
	r.qp.dev.count.readBytes += n
	r.check()
}

// check ends the read when all is there that comes.
func (r *read) check() {
	if r.got == r.most {
		s := r.status
		r.qp.reads.remove(r)
		r.over(s)
	}
}

// over ends the request. Its memory is not written any more.
func (r *read) over(s verbs.Status) {
	if r.data == nil {
		return // it has ended already
	}
	r.data = nil
	q := r.qp
	e := q.ring.at(r.number)
	e.done, e.status = true, s
	q.retireNow()
}

// readEnds takes the peer's word that it sends no more of a read than so many bytes.
// Some of them may still be under way, on other rails.
func (q *qp) readEnds(h *header) error {
	r, s := q.reads.find(h.name()), verbs.Status(h.flags)
	switch {
	case r == nil || r.data != nil && s == verbs.StatusAborted || r.status != verbs.StatusOK,
		h.offset() < r.got+r.coming || h.offset() >= r.size:
		return fmt.Errorf("%w: the end (%v, after %d bytes) of a read", errFrame, s, h.offset())
	}
	r.most, r.status = h.offset(), s
	r.check()
	return nil
}

// Abort implements verbs.QP. What is on its way is dropped when it comes.
func (q *qp) Abort(id uint64) {
	for _, r := range q.reads.all {
		if r.id != id || r.data == nil {
			continue
		}
		c := q.conn
		for _, o := range q.rails {
			o.drop(r)
		}
		c.drop(r)
		q.dev.writing.mu.Lock()
		h := header{kind: kindCancel, word: uint64(r.name) << offsetBits}
		c.out.put(&h)
		c.flush()
		q.dev.writing.mu.Unlock()
		r.over(verbs.StatusAborted)
		return
	}
}

// drop has what is under way of a read go nowhere.
func (c *conn) drop(r *read) {
	if c.in.read == r {
		c.in.dst = nil
	}
}
