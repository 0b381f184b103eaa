package progress

import "time"

// Of some devices a queue can't be looked at but by a system call (verbs.Attr.SlowLook).
// Beside others such a queue is looked at seldom while it has nothing: after twice as many
// looks at the others for each look in vain, down to one in slowMost. So a message that
// comes there is found after about as many looks more as it has taken to come, and a
// quiet queue costs a busy one some per cent. While the busy ones always have
// something the clock decides: none waits for long.

const (
	slowLeast = 4    // looks at other queues between two at a slow one that was found to have something
	slowMost  = 1024 // and at most: some 5 µs
	pollLooks = 8    // so many looks is a poll of the others worth
	slowLate  = 200 * time.Microsecond
	// clockEvery is how many polls are left out before the clock is read.
	clockEvery = 8
	// testLate is how late a slow queue is looked at by a program that polls now and
	// then by itself.
	testLate = 10 * time.Microsecond

	// Where there is no other queue, a look takes as long as all this:
	slowRound   = 4 // looks in a round of spinning
	slowGlances = 4 // polls with the lock held
)

// pace says when a slow queue's turn is. It is the driver's, which needs no lock for
// it, or theirs who hold the lock while nobody drives.
type pace struct {
	every int // looks at the others between two at this one
	left  int
	skips int       // polls left out since the last one
	last  time.Time // poll
}

// look counts a look at the others, and says whether it is this one's turn.
func (p *pace) look() bool {
	p.left--
	return p.left <= 0
}

// poll is look for a poll.
func (p *pace) poll() bool {
	if p.left -= pollLooks; p.left <= 0 {
		return true
	}
	p.skips++
	return p.skips%clockEvery == 0 && time.Since(p.last) >= slowLate
}

// found notes that there was something, or not.
func (p *pace) found(something bool) {
	p.every = min(max(2*p.every, slowLeast), slowMost)
	if something {
		p.every = slowLeast
	}
	p.left = p.every
}

// now makes it the queue's turn.
func (p *pace) now() { p.left = 0 }

// polled notes a poll.
func (p *pace) polled(found bool) {
	p.skips, p.last = 0, time.Now()
	p.found(found)
}

// turn says whether a queue is polled this time, among several.
func (s *source) turn() bool {
	if s.slow {
		return s.pace.poll()
	}
	if s.skip != 0 {
		s.skip--
		return false
	}
	return true
}

// rest notes what a poll of a queue, one of several, has found.
func (s *source) rest(got int) {
	if s.slow {
		s.pace.polled(got != 0)
		return
	}
	if got != 0 {
		s.quiet, s.skip = 0, 0
		return
	}
	// Half as often for each 64 polls without a find, down to one in 32.
	s.quiet++
	s.skip = 1<<min(s.quiet/64, 5) - 1
}

// next has the next poll take a queue that may have something.
func (s *source) next() {
	s.skip = 0
	s.pace.now()
}

// look looks at a queue, at a slow one only when it is its turn.
func (s *source) look() bool {
	if s.slow && !s.pace.look() {
		return false
	}
	something := s.cq.Pending()
	if s.slow {
		s.pace.found(something)
	}
	if something {
		s.next()
	}
	return something
}

// lookAround is somethingPending for the driver, where there are several queues: it
// looks at slow ones when it is their turn.
func (e *Engine) lookAround() bool {
	for _, s := range e.recv {
		if s.look() {
			return true
		}
	}
	return false
}

// lookAll looks at all queues, for a driver that has time.
func (e *Engine) lookAll() bool {
	for _, s := range e.recv {
		if s.cq.Pending() {
			s.next()
			return true
		}
	}
	return false
}

// spinAround is spin where there is another queue than one that is looked at fast.
func (e *Engine) spinAround() (found bool) {
	if len(e.recv) == 1 {
		for range slowRound {
			if e.somethingPending() {
				return true
			}
		}
		return false
	}
	for range spinRound {
		if e.lookAround() {
			return true
		}
	}
	return false
}

// glanceAround is glance there. The one queue that is looked at fast, if it is one, is
// polled without a look, as where it is alone.
func (e *Engine) glanceAround(w *Waiter) int {
	looks := glancePolls
	if len(e.recv) == 1 {
		looks = slowGlances
	}
	for range looks {
		n := 0
		switch {
		case len(e.recv) == 1, e.fast != nil && e.lookSlow(), e.fast == nil && e.lookAround():
			n = e.poll()
		case e.fast != nil:
			n = e.pollFast()
		}
		if n > 0 || w.Left <= 0 {
			return n
		}
	}
	return 0
}

// lookSlow is lookAround at the slow queues alone.
func (e *Engine) lookSlow() bool {
	for _, s := range e.recv {
		if s.slow && s.look() {
			return true
		}
	}
	return false
}

// pollFast is poll without the slow queues.
func (e *Engine) pollFast() int {
	e.count.RecvPolls++
	n := e.take(e.fast)
	if e.needs > 0 || len(e.pending) != 0 {
		n += e.pollSends()
	}
	return n
}

// hurry has a poll that the program asked for take slow queues that were left out for
// a while: perhaps it polls seldom.
func (e *Engine) hurry() {
	for _, s := range e.recv {
		if s.slow && time.Since(s.pace.last) >= testLate {
			s.pace.now()
		}
	}
}
