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
type pace struct {
	class [16]struct {
		est   [2]float64 // nanoseconds per read: Stream, Copy
		n     [2]uint32  // samples
		total uint32
	}
	last time.Time // when the last read of this queue pair ended
	way  Way       // of the reads that are in flight
}

const (
	paceSamples = 8   // of each way, in turn, before one is preferred
	paceAgain   = 128 // every so many reads the slower way is tried again
	paceWarm    = 2   // the first samples touch the memory for the first time
	paceWeight  = 0.25
)

func paceClass(n int) int { return min(max(bits.Len(uint(n))-13, 0), 15) }

func paceWay(w Way) int { return int(w - Stream) }

func (p *pace) pick(n int) Way {
	c := &p.class[paceClass(n)]
	c.total++
	if n := c.n; n[0] < paceSamples || n[1] < paceSamples {
		if n[0] <= n[1] {
			return Stream
		}
		return Copy
	}
	best, other := Stream, Copy
	if c.est[paceWay(Copy)] < c.est[paceWay(Stream)] {
		best, other = Copy, Stream
	}
	if c.total%paceAgain == 0 {
		return other
	}
	return best
}

func (p *pace) note(w Way, n int, took float64) {
	c := &p.class[paceClass(n)]
	i := paceWay(w)
	c.n[i]++
	switch est := &c.est[i]; {
	case c.n[i] <= paceWarm || *est == 0:
		*est = took
	case took < *est/4: // the way has become another one
		*est = 2 * took
	default:
		// A read that was interrupted says little of the way.
		*est += paceWeight * (min(took, 2**est) - *est)
	}
}

// stalled notes that streaming waited in vain.
func (p *pace) stalled(n int) {
	c := &p.class[paceClass(n)]
	c.est[paceWay(Stream)] = min(max(2*c.est[paceWay(Stream)], float64(stallTime)), float64(time.Second))
	c.n[paceWay(Stream)]++
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
