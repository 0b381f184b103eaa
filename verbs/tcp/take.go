//go:build linux

package tcp

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// parse takes the frames that lie in the buffer, until more must come, the queue that
// they are for is full, or a slot is wanting.
func (c *conn) parse(s *sink) {
	in := &c.in
	for {
		more := false
		switch {
		case c.gone() || c.stage == stageLeaving:
			return
		case in.kind != 0:
			more = c.takeBody(s)
		case in.filled-in.next >= headerSize:
			h, err := parseHeader(in.buf[in.next:in.filled])
			if err == nil {
				more, err = c.takeFrame(s, &h)
			}
			if err != nil {
				c.corrupt(err)
				return
			}
		}
		if !more {
			break
		}
	}
	if in.end && !in.ready && !in.paused && !c.gone() {
		c.ended(c.endWithout())
	}
}

// takeFrame takes the frame at next, if enough of it is there. It says whether to go
// on with what follows.
func (c *conn) takeFrame(s *sink, h *header) (more bool, err error) {
	switch {
	case h.kind == kindBye:
		c.in.next += headerSize
		c.ended(verbs.StatusPeerClosed)
		return true, nil
	case h.kind == kindHello:
		return c.takeHello(h)
	case c.stage != stageLive && c.stage != stageRail || c.qp.state != qpReady,
		c.stage == stageRail && h.kind != kindData:
		return false, fmt.Errorf("%w: kind %d is out of place", errFrame, h.kind)
	}
	in, q := &c.in, c.qp
	switch h.kind {
	case kindSend:
		return c.takeMessage(s, h)
	case kindData:
		return true, c.takeData(h)
	case kindRead:
		if in.filled-in.next < h.size() {
			return false, nil
		}
		r, err := parseRequest(in.buf[in.next+headerSize:])
		in.next += h.size()
		if err != nil {
			return false, err
		}
		return true, q.asked(h.name(), r)
	case kindCancel:
		in.next += headerSize
		q.canceled(h.name())
		return true, nil
	}
	in.next += headerSize
	return true, q.readEnds(h)
}

// takeMessage lends a short message from the buffer. A long one takes a slot, to which
// the rest of it is read.
func (c *conn) takeMessage(s *sink, h *header) (more bool, err error) {
	in, q := &c.in, c.qp
	n := int(h.length)
	if n > q.rq.slotSize {
		return false, fmt.Errorf("%w: a message of %d bytes, into slots of %d", errFrame, n, q.rq.slotSize)
	}
	m := verbs.Completion{QP: q.num, Len: h.length, Slot: verbs.NoSlot, Op: verbs.OpRecv}
	if verbs.Flags(h.flags)&verbs.WithImm != 0 {
		m.Flags, m.Imm = verbs.WithImm, uint32(h.word)
	}
	solicited := verbs.Flags(h.flags)&verbs.FlagSolicited != 0
	if n <= c.dev.tune.inlineRecv {
		if in.filled-in.next < h.size() {
			return false, nil
		}
		if !s.room(q) {
			c.again()
			return false, nil
		}
		at := in.next + headerSize
		m.Data = in.buf[at : at+n : at+n]
		in.next += h.size()
		q.recvCQ.lend(c)
		s.give(q, &m, solicited)
		return true, nil
	}
	slot, ok := q.rq.take()
	if !ok {
		c.pause()
		return false, nil
	}
	if q.rq.low() {
		q.recvCQ.push(verbs.Completion{QP: q.num, Op: verbs.OpLow, Slot: verbs.NoSlot}, true)
	}
	m.Slot, m.Data = slot, q.rq.view(slot, n)
	in.next += headerSize
	in.kind, in.dst, in.left, in.pad, in.msg, in.wake = kindSend, m.Data, n, align8(n)-n, m, solicited
	return true, nil
}

// takeBody takes what the buffer has of a payload that belongs elsewhere.
func (c *conn) takeBody(s *sink) (more bool) {
	in := &c.in
	if m := min(in.left, in.filled-in.next); m > 0 {
		if in.dst != nil {
			copy(in.dst, in.buf[in.next:in.next+m])
			in.dst = in.dst[m:]
		}
		in.next, in.left = in.next+m, in.left-m
	}
	if in.left > 0 || in.filled-in.next < in.pad {
		return false
	}
	q := c.qp
	if in.kind == kindSend {
		if !s.room(q) {
			c.again()
			return false
		}
		s.give(q, &in.msg, in.wake)
	}
	in.next += in.pad
	of := in.kind
	in.kind, in.dst, in.pad = 0, nil, 0
	in.msg.Data = nil
	if of == kindData {
		r := in.read
		in.read = nil
		r.advance(in.part)
	}
	return true
}

// pause stops reading until slots are reposted. Meanwhile the kernel isn't asked for
// the connection, or it would tell of it all the time; the peer's sends wait.
func (c *conn) pause() {
	d, q := c.dev, c.qp
	d.count.rnr++
	c.in.paused = true
	q.rq.waiting = append(q.rq.waiting, c)
	d.look.Lock()
	d.hot.drop(c)
	d.look.Unlock()
	d.writing.mu.Lock()
	c.wrote(c.ask(c.out.asked &^ epollIn))
	d.writing.mu.Unlock()
}

// resume goes on after a pause.
func (c *conn) resume() {
	d := c.dev
	c.in.paused = false
	c.again()
	d.writing.mu.Lock()
	c.wrote(c.ask(c.out.asked | epollIn))
	d.writing.mu.Unlock()
	d.busy.Store(true)
}
