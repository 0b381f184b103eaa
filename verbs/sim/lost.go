package sim

import "github.com/verbena-mpi/verbena/verbs"

// lose notes a packet that never came. The retry timer runs from here. (A real
// timer runs for each request and mostly finds that all is well; here it runs
// only where it will be needed, so that it moves no clock otherwise.)
func (n *Network) lose(p *packet) {
	q := p.requester()
	if q == nil || q.state != connected {
		return
	}
	q.dev.count.lost++
	s := &q.sq
	if p.dst == q && p.seq < s.done {
		return // an answer that is not needed any more
	}
	if s.retrying == nil {
		s.goBack = p.seq
		s.retrying = n.schedule(n.now+q.dev.cfg.RetryTimer, s.retry)
	}
	s.goBack = min(s.goBack, p.seq)
}

// retry goes back to the oldest request that was lost, or gives up.
func (s *sendQueue) retry() {
	q := s.qp
	s.retrying = nil
	if s.retries++; s.retries > q.dev.cfg.Retries {
		var w *request
		if s.done < s.end() {
			w = s.at(s.done)
		}
		q.fail(w, verbs.StatusRetry, verbs.StatusRetry)
		return
	}
	s.next = min(s.next, s.goBack)
	s.kick()
}
