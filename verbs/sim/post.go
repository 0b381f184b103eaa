package sim

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// PostSend implements verbs.QP.
func (q *queuePair) PostSend(wrs []verbs.SendWR) (n int, err error) {
	q.dev.net.mu.Lock()
	defer q.dev.net.mu.Unlock()
	switch {
	case q.dev.closed:
		return 0, verbs.ErrClosed
	case q.state == idle || q.state == failed:
		return 0, verbs.ErrState
	case q.state == configured:
		q.start()
	}
	s := &q.sq
	for i := range wrs {
		if err := q.valid(&wrs[i]); err != nil {
			s.kick()
			return i, err
		}
		if len(s.reqs) >= q.depth {
			s.kick()
			return i, verbs.ErrFull
		}
		s.add(wrs[i])
	}
	s.kick()
	return len(wrs), nil
}

// valid checks a request as far as an adapter's driver would.
func (q *queuePair) valid(wr *verbs.SendWR) error {
	size := len(wr.Hdr) + len(wr.Data)
	switch wr.Op {
	case verbs.OpSend:
		if wr.Flags&verbs.Inline != 0 {
			if size > q.inline {
				return fmt.Errorf("%w: %d bytes, %d granted", verbs.ErrInline, size, q.inline)
			}
			return nil
		}
		if size > q.dev.cfg.MaxSend {
			return fmt.Errorf("%w: %d bytes, at most %d", verbs.ErrTooLong, size, q.dev.cfg.MaxSend)
		}
	case verbs.OpRead:
		if wr.Flags&verbs.Inline != 0 || len(wr.Hdr) != 0 {
			return fmt.Errorf("%w: a read with a header, or inline", verbs.ErrInvalid)
		}
		if int64(size) > q.dev.cfg.MaxRead {
			return fmt.Errorf("%w: a read of %d bytes, at most %d", verbs.ErrTooLong, size, q.dev.cfg.MaxRead)
		}
	default:
		return fmt.Errorf("%w: request %v", verbs.ErrInvalid, wr.Op)
	}
	if !q.dev.cfg.NoRegistration && !q.dev.registered(wr.Data, wr.Op) {
		return fmt.Errorf("%w: %d bytes of local memory that is not registered", verbs.ErrInvalid, len(wr.Data))
	}
	return nil
}

// add puts a request at the queue's end.
func (s *sendQueue) add(wr verbs.SendWR) {
	w := &request{wr: wr, seq: s.end()}
	if wr.Op == verbs.OpSend && wr.Flags&verbs.Inline != 0 {
		w.copied = gather(&wr)
		w.wr.Hdr, w.wr.Data = nil, nil
	}
	s.reqs = append(s.reqs, w)
}

// gather copies a message.
func gather(wr *verbs.SendWR) []byte {
	msg := make([]byte, 0, len(wr.Hdr)+len(wr.Data))
	msg = append(msg, wr.Hdr...)
	return append(msg, wr.Data...)
}

// Abort implements verbs.QP. The peer is told, so that it stops sending, and
// what is still under way is thrown away on arrival. The request keeps its
// place in the order of the queue, so that its completion comes after those of
// the requests before it.
func (q *queuePair) Abort(id uint64) {
	q.dev.net.mu.Lock()
	defer q.dev.net.mu.Unlock()
	s := &q.sq
	for seq := s.done; seq < s.end(); seq++ {
		w := s.at(seq)
		if w.wr.Op != verbs.OpRead || w.wr.ID != id || w.over {
			continue
		}
		if w.try > 0 && q.state == connected {
			q.control(&packet{kind: pktCancel, seq: seq})
		}
		s.finish(w, verbs.StatusAborted)
		s.kick()
		return
	}
}
