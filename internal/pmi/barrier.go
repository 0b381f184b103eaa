package pmi

// barrierIn enters the barrier. The answer is written when everybody is in, by
// a goroutine of its own: meanwhile this rank's connection goes on being read,
// for abort and for its end, and a rank that reads slowly delays nobody.
func (x *session) barrierIn() error {
	s := x.s
	s.mu.Lock()
	s.ranks[x.rank].waiting = true
	b := s.barrier
	b.in++
	if b.in == s.size {
		for r := range s.ranks {
			s.ranks[r].waiting = false
		}
		s.barrier = &barrier{done: make(chan struct{})}
		close(b.done)
	}
	s.mu.Unlock()
	x.pending.Go(func() {
		select {
		case <-b.done:
			_ = x.answer(Msg("barrier_out", "rc", "0"))
		case <-x.quit:
		}
	})
	s.checkStuck()
	return nil
}
