package sim

import (
	"github.com/verbena-mpi/verbena/verbs"
)

// kick sets the queue moving, once its owner has time to ring the doorbell.
func (s *sendQueue) kick() {
	if s.kicked || s.inLink || !s.ready() {
		return
	}
	s.kicked = true
	d := s.qp.dev
	d.net.schedule(max(d.net.now, d.busy), func() {
		s.kicked = false
		if s.ready() {
			d.net.link(d, s.qp.peer.dev).want(s)
		}
	})
}

// ready says whether a request can be sent now.
func (s *sendQueue) ready() bool {
	q := s.qp
	if q.state != connected || s.waiting || s.next >= s.end() {
		return false
	}
	w := s.unsent()
	if w == nil {
		return true
	}
	if _, bad := s.inject[w.seq]; bad && s.done != w.seq {
		return false // those before it must be over
	}
	return w.wr.Op != verbs.OpRead || s.reads < q.dev.cfg.ReadsOpen
}

// unsent is the request that is the next to be sent, or nil where it was
// aborted: then something must still be sent in its place, since the peer
// takes requests in the order of their numbers.
func (s *sendQueue) unsent() *request {
	if s.next < s.first || s.at(s.next).over {
		return nil
	}
	return s.at(s.next)
}

func (s *sendQueue) queued() *bool { return &s.inLink }

// talk sends the next request. Only now is its memory read.
func (s *sendQueue) talk(l *link) (more bool) {
	if !s.ready() {
		return false
	}
	q := s.qp
	p := &packet{src: q, dst: q.peer, seq: s.next, kind: pktNothing}
	if w := s.unsent(); w != nil {
		if st, bad := s.inject[w.seq]; bad {
			q.fail(w, st, st)
			return false
		}
		s.send(w, p)
	}
	s.next++
	l.occupy(p)
	return s.ready()
}

// send fills the packet of a request.
func (s *sendQueue) send(w *request, p *packet) {
	count := &s.qp.dev.count
	if w.try++; w.try > 1 {
		count.retries++
	}
	p.try = w.try
	if w.wr.Op == verbs.OpRead {
		p.kind, p.remote, p.length = pktRead, w.wr.Remote, len(w.wr.Data)
		w.got = 0
		if !w.open {
			w.open = true
			s.reads++
		}
		count.reads++
		return
	}
	p.kind, p.imm, p.flags = pktSend, w.wr.Imm, w.wr.Flags&(verbs.WithImm|verbs.FlagSolicited)
	if p.data = w.copied; p.data == nil {
		p.data = gather(&w.wr)
	}
	count.sends++
}

// takeReply takes the peer's answer to a request.
func (q *queuePair) takeReply(p *packet) {
	s := &q.sq
	w := s.find(p)
	if w == nil || !s.implied(w) {
		return
	}
	s.retries = 0
	switch p.kind {
	case pktAck:
		s.finish(w, verbs.StatusOK)
	case pktChunk:
		w.got += copy(w.wr.Data[p.off:], p.data)
		q.dev.count.readBytes += uint64(len(p.data))
		if w.got == len(w.wr.Data) {
			s.finish(w, verbs.StatusOK)
		}
	case pktRefused:
		q.fail(w, p.status, p.status)
		return
	case pktNoSlot:
		s.noSlot(w)
	}
	s.kick()
}

// implied takes an answer to w as one to all sends before it, whose own may
// have been lost: replies come in the order of the requests. Behind a read
// that has lost a part the answer is of no use; the read comes again, and all
// that follows it.
func (s *sendQueue) implied(w *request) bool {
	for seq := s.done; seq < w.seq; seq++ {
		if o := s.at(seq); o.wr.Op == verbs.OpRead && !o.over {
			return false
		}
	}
	for seq := s.done; seq < w.seq; seq++ {
		s.finish(s.at(seq), verbs.StatusOK)
	}
	return true
}

// noSlot waits for the RNR timer, and goes back to the message for which the
// peer had no slot.
func (s *sendQueue) noSlot(w *request) {
	q := s.qp
	q.dev.count.rnr++
	q.note("no slot", w.seq)
	if w.rnr++; q.dev.cfg.RNRRetries > 0 && w.rnr > q.dev.cfg.RNRRetries {
		q.fail(w, verbs.StatusRetry, verbs.StatusRetry)
		return
	}
	s.waiting = true
	s.next = min(s.next, w.seq)
	s.timer = q.dev.net.schedule(q.dev.net.now+q.dev.cfg.RNRTimer, func() {
		s.waiting = false
		s.kick()
	})
}
