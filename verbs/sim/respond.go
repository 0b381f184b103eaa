package sim

import (
	"github.com/verbena-mpi/verbena/verbs"
)

// responder serves the peer's requests. Requests are taken in order, and so
// are the replies given: an answer waits behind the reads before it.
type responder struct {
	qp      *queuePair
	expect  uint64 // the next request
	replies []*reply
	inLink  bool
}

// reply is an answer that is to be given. A read's is a stream of chunks.
type reply struct {
	kind      kind
	seq       uint64
	try       uint32
	status    verbs.Status
	remote    verbs.Remote
	length    int
	off       int
	cancelled bool
}

// serveRequest takes one request of the peer.
func (q *queuePair) serveRequest(p *packet) {
	r := &q.serves
	if p.seq > r.expect {
		return // behind one that found no slot, or was lost: it comes again
	}
	if p.seq < r.expect {
		r.repeat(p)
		return
	}
	a := &reply{kind: pktAck, seq: p.seq, try: p.try}
	switch p.kind {
	case pktNothing:
		r.expect++
		return
	case pktSend:
		a.kind, a.status = q.deliver(p)
	case pktRead:
		a.readOf(p)
		if q.dev.readable(p.remote, p.length) == nil {
			a.kind, a.status = pktRefused, verbs.StatusRemoteAccess
		}
	}
	if a.kind != pktNoSlot {
		r.expect++
	}
	r.answer(a)
}

// readOf makes the reply a stream.
func (a *reply) readOf(p *packet) {
	a.kind, a.remote, a.length = pktChunk, p.remote, p.length
}

// repeat answers once more what was answered already.
func (r *responder) repeat(p *packet) {
	a := &reply{kind: pktAck, seq: p.seq, try: p.try}
	switch p.kind {
	case pktNothing:
		return
	case pktRead:
		r.qp.cancelStream(p.seq)
		a.readOf(p)
	}
	r.answer(a)
}

// deliver puts a message in a slot, and says what to answer.
func (q *queuePair) deliver(p *packet) (kind, verbs.Status) {
	if len(p.data) > q.rq.cfg.SlotSize {
		return pktRefused, verbs.StatusTooLong
	}
	slot, ok := q.rq.take(len(p.data))
	if !ok {
		return pktNoSlot, verbs.StatusOK
	}
	view := q.rq.view(slot, len(p.data))
	copy(view, p.data)
	q.dev.count.received++
	c := verbs.Completion{QP: q.num, Op: verbs.OpRecv, Len: uint32(len(view)), Flags: p.flags & verbs.WithImm, Slot: slot, Data: view}
	if p.flags&verbs.WithImm != 0 {
		c.Imm = p.imm
	}
	q.note("received", p.seq)
	q.recvCQ.push(entry{c: c, solicited: p.flags&verbs.FlagSolicited != 0})
	if q.rq.crossed() {
		q.recvCQ.push(entry{c: verbs.Completion{QP: q.num, Op: verbs.OpLow, Slot: verbs.NoSlot}})
	}
	return pktAck, verbs.StatusOK
}

// answer queues a reply behind the others.
func (r *responder) answer(a *reply) {
	r.replies = append(r.replies, a)
	r.flush()
}

// flush gives the replies that are no streams, and lets a stream wait for its
// turn on the link.
func (r *responder) flush() {
	q := r.qp
	for len(r.replies) > 0 && q.state == connected {
		a := r.replies[0]
		if a.kind == pktChunk && !a.cancelled {
			q.dev.net.link(q.dev, q.peer.dev).want(r)
			return
		}
		r.replies = r.replies[1:]
		if a.cancelled {
			continue
		}
		q.control(&packet{kind: a.kind, seq: a.seq, try: a.try, status: a.status})
		if a.kind == pktRefused {
			q.fail(nil, verbs.StatusOK, a.status)
		}
	}
}

func (r *responder) queued() *bool { return &r.inLink }

// talk sends one chunk of the read at the head. Its memory is looked up and
// read now.
func (r *responder) talk(l *link) (more bool) {
	q := r.qp
	if q.state != connected || len(r.replies) == 0 || r.replies[0].kind != pktChunk {
		return false
	}
	a := r.replies[0]
	n := min(a.length-a.off, q.dev.cfg.ReadChunk)
	from := verbs.Remote{Addr: a.remote.Addr + uint64(a.off), Key: a.remote.Key}
	mem := q.dev.readable(from, n)
	if mem == nil && !a.cancelled {
		a.kind, a.status = pktRefused, verbs.StatusRemoteAccess
		r.flush()
		return false
	}
	if !a.cancelled {
		chunk := append([]byte(nil), mem...)
		l.occupy(&packet{kind: pktChunk, src: q, dst: q.peer, seq: a.seq, try: a.try, off: a.off, data: chunk})
		a.off += n
	}
	if a.cancelled || a.off == a.length {
		r.replies = r.replies[1:]
	}
	r.flush()
	return false
}

// cancelStream ends a read that the requester wants no more of.
func (q *queuePair) cancelStream(seq uint64) {
	for _, a := range q.serves.replies {
		if a.kind == pktChunk && a.seq == seq {
			a.cancelled = true
		}
	}
}

// stop forgets all replies.
func (r *responder) stop() { r.replies = nil }
