//go:build linux

package shm

import (
	"math/bits"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// pace is what was measured on a connection: how long streamed and single-copy
// reads took, by size. Which of the two is faster depends on where the two cores
// are (near: streaming, by a factor of two to three; far: the single copy), on
// whether the target is driving, and on what the system allows; none of that is
// known beforehand, and all of it can change.
//
// The two are tried in turns of several reads: the first reads of a turn find the
// buffers in nobody's cache, and don't count.
type pace struct {
	class [16]paceClass // by size
	last  time.Time     // when the last read of this queue pair ended
	way   Way           // of the reads that are in flight
}

type paceClass struct {
	est  [2]float64 // nanoseconds per read: Stream, Copy; 0: not known
	way  Way        // of the present turn
	left int        // choices left in it
	cold int        // reads left in it that don't count
	long int        // choices in the next turn of the faster way
	try  bool       // the present turn looks at the slower way
}

const (
	paceTurn   = 12  // choices in a turn that looks
	paceCold   = 4   // reads of a turn that don't count
	paceFirst  = 64  // choices in the first turn of the faster way; each is twice as long
	paceMost   = 512 // up to this
	paceWeight = 0.25
)

func (p *pace) of(n int) *paceClass { return &p.class[min(max(bits.Len(uint(n))-13, 0), 15)] }

func paceWay(w Way) int { return int(w - Stream) }

// pick chooses a way for n bytes.
func (p *pace) pick(n int) Way {
	c := p.of(n)
	if c.left == 0 {
		c.turn()
	}
	c.left--
	return c.way
}

// turn begins the next turn: each way at first, then the faster one for long, and
// in between a look at the other.
func (c *paceClass) turn() {
	c.left, c.cold = paceTurn, paceCold
	best, other := Stream, Copy
	if s, v := c.est[paceWay(Stream)], c.est[paceWay(Copy)]; v != 0 && v < s {
		best, other = Copy, Stream
	}
	switch {
	case c.est[paceWay(Stream)] == 0:
		c.way = Stream
	case c.est[paceWay(Copy)] == 0:
		c.way = Copy
	case c.long == 0 || c.try:
		c.long = min(max(2*c.long, paceFirst), paceMost)
		c.way, c.left, c.try = best, c.long, false
	default:
		c.way, c.try = other, true
		c.est[paceWay(other)] = 0 // what it was is forgotten, so that it can come back
	}
}

// note takes the time of a read into account.
func (p *pace) note(w Way, n int, took float64) {
	c := p.of(n)
	if w == c.way && c.cold > 0 {
		c.cold--
		return
	}
	est := &c.est[paceWay(w)]
	if *est == 0 {
		*est = took
		return
	}
	// A read that was interrupted says little of the way.
	*est += paceWeight * (min(took, 2**est) - *est)
}

// stalled notes that streaming waited in vain: the turn ends.
func (p *pace) stalled(n int) {
	c := p.of(n)
	c.est[paceWay(Stream)] = min(max(2*c.est[paceWay(Stream)], float64(stallTime)), float64(time.Second))
	if c.way == Stream {
		c.left = 0
	}
}

// measure takes a finished read into account. Reads that queued behind each
// other count from the end of the one before.
func (q *qp) measure(r *read) {
	if r.way == Direct || q.dev.cfg.Read != Auto {
		return
	}
	now := time.Now()
	since := r.start
	if q.pace.last.After(since) {
		since = q.pace.last
	}
	q.pace.last = now
	q.pace.note(r.way, len(r.dst), float64(now.Sub(since)))
}

// chooseWay says how a read of n bytes travels.
func (q *qp) chooseWay(m verbs.Remote, n int) Way {
	forced := q.dev.cfg.Read
	mapped := m.Key&keyArena != 0 && !q.link.noArena
	switch {
	case n == 0:
		return Copy // nothing to copy, but the key is checked
	case mapped && (forced == Direct || forced == Auto):
		return Direct
	case !q.link.vm || forced == Stream:
		return Stream
	case forced == Copy:
		return Copy
	}
	// Reads that are in flight together go the same way: mixed, they would
	// wait for each other, and their times would say nothing.
	if q.reads == 0 || q.pace.way == Auto {
		q.pace.way = q.pace.pick(n)
	}
	return q.pace.way
}
