package sim

import (
	"github.com/verbena-mpi/verbena/verbs"
)

// sendQueue is the requests of a queue pair, from the oldest that still
// occupies a place to the newest:
//
//	first      done        next        first+len(reqs)
//	  | complete | in flight | not sent |
//
// A complete request keeps its place until a completion that covers it is
// polled. (An aborted one may be complete before it was sent; next is then
// behind done, and even behind first.)
type sendQueue struct {
	qp       *queuePair
	reqs     []*request
	first    uint64 // number of reqs[0]
	done     uint64
	next     uint64
	reads    int    // in flight
	waiting  bool   // for the RNR timer
	kicked   bool   // a kick is scheduled
	inLink   bool   // waits for its turn on the link
	retries  int    // since the last answer
	retrying *event // at its end the queue goes back
	goBack   uint64
	timer    *event                  // RNR
	inject   map[uint64]verbs.Status // errors by request number
}

// request is one posted request.
type request struct {
	wr     verbs.SendWR
	seq    uint64
	copied []byte // an inline message
	try    uint32 // transmissions
	rnr    int    // in a row
	got    int    // bytes of a read that have arrived
	open   bool   // a read in flight
	over   bool
	status verbs.Status
}

func (s *sendQueue) end() uint64 { return s.first + uint64(len(s.reqs)) }

func (s *sendQueue) at(seq uint64) *request { return s.reqs[seq-s.first] }

// find is the request that a reply is for, or nil if it is over or the reply
// is one to an earlier transmission.
func (s *sendQueue) find(p *packet) *request {
	if p.seq < s.done || p.seq >= s.end() {
		return nil
	}
	w := s.at(p.seq)
	if w.over || w.try != p.try {
		return nil
	}
	return w
}

// finish ends a request. Completions come in the order of posting.
func (s *sendQueue) finish(w *request, st verbs.Status) {
	if w.over {
		return
	}
	w.over, w.status = true, st
	if w.open {
		w.open = false
		s.reads--
	}
	for s.done < s.end() && s.at(s.done).over {
		s.complete(s.at(s.done))
	}
}

// complete reports the oldest request that has not been.
func (s *sendQueue) complete(w *request) {
	s.done = w.seq + 1
	if w.wr.Flags&verbs.Signaled == 0 && w.status == verbs.StatusOK {
		return
	}
	q := s.qp
	q.note("complete: "+w.status.String(), w.seq)
	c := verbs.Completion{ID: w.wr.ID, QP: q.num, Op: w.wr.Op, Status: w.status, Slot: verbs.NoSlot}
	q.sendCQ.push(entry{c: c, qp: q, seq: w.seq})
}

// release gives back the places up to a request whose completion was polled.
func (q *queuePair) release(seq uint64) {
	s := &q.sq
	if seq < s.first {
		return
	}
	n := int(seq + 1 - s.first)
	rest := copy(s.reqs, s.reqs[n:])
	clear(s.reqs[rest:])
	s.reqs = s.reqs[:rest]
	s.first = seq + 1
}

// flush ends all requests: w with its status, the others with StatusFlushed.
func (s *sendQueue) flush(w *request, st verbs.Status) {
	s.retrying.cancel()
	s.timer.cancel()
	if w != nil {
		for seq := s.done; seq < w.seq; seq++ {
			s.finish(s.at(seq), verbs.StatusFlushed)
		}
		s.finish(w, st)
	}
	for seq := s.done; seq < s.end(); seq++ {
		s.finish(s.at(seq), verbs.StatusFlushed)
	}
}
