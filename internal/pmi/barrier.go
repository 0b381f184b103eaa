package pmi

import (
	"fmt"
	"time"
)

// barrier is one round; done is closed when everybody is in, or nobody will be.
type barrier struct {
	in   int
	done chan struct{}
	why  string // of a round that failed; set before done is closed
}

// barrierIn enters the barrier. The answer is written when everybody is in, by
// a goroutine of its own: meanwhile this rank's connection goes on being read,
// for abort and for its end, and a rank that reads slowly delays nobody.
//
// A rank of ours says how long it will wait (within, in milliseconds). When the
// time is over the barrier fails for all, and the answer says who is missing.
func (x *session) barrierIn(m Message) error {
	s := x.s
	within, _ := m.Int("within") // 0: no limit
	s.mu.Lock()
	if why := s.broken; why != "" {
		s.mu.Unlock()
		return x.answer(barrierOut(why))
	}
	s.ranks[x.rank].waiting = true
	b := s.barrier
	b.in++
	if b.in == s.size {
		s.endRound("")
	}
	s.mu.Unlock()
	x.pending.Go(func() {
		var late <-chan time.Time
		if within > 0 {
			t := time.NewTimer(time.Duration(min(within, int(maxWithin/time.Millisecond))) * time.Millisecond)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-b.done:
		case <-late:
			s.tooLate(b, within)
		case <-x.quit:
			return
		}
		_ = x.answer(barrierOut(b.why))
	})
	s.checkStuck()
	return nil
}

// maxWithin bounds what a rank may say.
const maxWithin = 1000 * time.Hour

func barrierOut(why string) Message {
	if why == "" {
		return Msg("barrier_out", "rc", "0")
	}
	return Msg("barrier_out", "rc", "-1", "msg", EscapeText(why, MaxValue))
}

// endRound answers those that are in the barrier. s.mu is held.
func (s *Server) endRound(why string) {
	for r := range s.ranks {
		s.ranks[r].waiting = false
	}
	s.barrier.why = why
	close(s.barrier.done)
	s.barrier = &barrier{done: make(chan struct{})}
}

// tooLate ends a round that has lasted too long for one of those in it.
func (s *Server) tooLate(b *barrier, within int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.barrier != b {
		return // it has just ended
	}
	var missing []int
	for r := range s.ranks {
		if !s.ranks[r].waiting {
			missing = append(missing, r)
		}
	}
	limit := (time.Duration(within) * time.Millisecond).Round(10 * time.Millisecond)
	s.breakAll(fmt.Sprintf("%s not come to the barrier within %v", Ranks(missing, "has", "have"), limit))
}

// Break fails the barrier for those that are in it and for those that will be:
// somebody is missing for good.
func (s *Server) Break(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breakAll(why)
}

// breakAll is Break. The first reason counts.
func (s *Server) breakAll(why string) {
	if s.broken == "" {
		s.broken = why
		s.endRound(why)
	}
}
