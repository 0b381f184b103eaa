//go:build linux

package tcp

import (
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// sendable checks a message.
func (q *qp) sendable(wr *verbs.SendWR) error {
	size := len(wr.Hdr) + len(wr.Data)
	switch {
	case wr.Flags&verbs.Inline != 0 && size > q.inline:
		return fmt.Errorf("%w: tcp: %d bytes, %d granted", verbs.ErrInline, size, q.inline)
	case size > maxSend:
		return fmt.Errorf("%w: tcp: %d bytes, at most %d", verbs.ErrTooLong, size, maxSend)
	case size > q.slotSize:
		return fmt.Errorf("%w: tcp: %d bytes into a slot of %d", verbs.ErrTooLong, size, q.slotSize)
	}
	return nil
}

// gatherFrom is the size from which a message is not copied to the outbox in order to
// leave by one call.
const gatherFrom = 8 << 10

// send queues a message, or writes it. The lock of the outboxes is held.
func (c *conn) send(wr *verbs.SendWR) {
	o, w := &c.out, &c.dev.writing
	size := len(wr.Hdr) + len(wr.Data)
	h := header{kind: kindSend, flags: uint8(wr.Flags & (verbs.FlagSolicited | verbs.WithImm)), length: uint32(size)}
	if wr.Flags&verbs.WithImm != 0 {
		h.word = uint64(wr.Imm)
	}
	w.messages++
	if size >= gatherFrom && o.size()+size > maxData {
		c.flush() // a call doesn't copy more
	}
	o.queued += uint64(h.size())
	if size < gatherFrom || o.blocked || o.part.size() > 0 || o.err != nil {
		o.buf = h.append(o.buf)
		o.buf = append(o.buf, wr.Hdr...)
		o.buf = append(o.buf, wr.Data...)
		o.buf = appendPad(o.buf, size)
		return
	}
	h.append(o.hdr[:0])
	pad := zeros[:align8(size)-size]
	before := o.size()
	w.vec.add(o.buf[o.head:])
	w.vec.add(o.hdr[:])
	w.vec.add(wr.Hdr)
	w.vec.add(wr.Data)
	w.vec.add(pad)
	n := c.write()
	if o.err != nil {
		w.discard(c)
		return
	}
	o.left += uint64(n)
	o.turn, o.at = c.dev.turn, time.Since(w.start)
	if n < before {
		o.head += n
		n = 0
	} else {
		o.buf, o.head = o.buf[:0], 0
		n -= before
	}
	for _, p := range [...][]byte{o.hdr[:], wr.Hdr, wr.Data, pad} {
		m := min(n, len(p))
		o.buf, n = append(o.buf, p[m:]...), n-m
	}
	if o.size() > 0 {
		c.block()
	} else if c.link.unsent() {
		c.flush()
	}
}

// settle decides when what was posted leaves: at once, unless something has left a
// moment before and nobody has polled since. Then more is likely to come.
func (c *conn) settle(idle bool) {
	o, d := &c.out, c.dev
	w := &d.writing
	if o.size() < coalesce {
		if !idle {
			w.coalesced++
			w.soon(c)
			return
		}
		now := time.Since(w.start)
		if o.turn == d.turn && now-o.at < coalesceFor {
			w.coalesced++
			w.soon(c)
			return
		}
		o.at = now
	} else {
		o.at = time.Since(w.start)
	}
	o.turn = d.turn
	c.flush()
}
