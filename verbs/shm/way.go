//go:build linux

package shm

import (
	"math/bits"
	"slices"
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
// buffers in nobody's cache, and don't count. Between two looks at the slower way
// the faster one goes on for so long that looking costs a hundredth of the time,
// unless it becomes much slower meanwhile.
type pace struct {
	class [16]paceClass // by size
	last  time.Time     // when the last read of this queue pair ended
	way   Way           // of the reads that are in flight

	streamed int // bytes, up to once round the chunks: until then they are new, and slow
}

type paceClass struct {
	took   [2]recent // nanoseconds per read: Stream, Copy
	way    Way       // of the present turn
	used   int       // reads in it
	left   int       // and so many more; it goes on until none is in flight
	cold   int       // reads left in it that don't count
	try    bool      // the present turn is a look at the slower way
	stalls int       // in the present turn
	best   Way       // the faster way
	most   int       // reads in its next turn, at most
	mid    float64   // what the faster way took when its present turn began; 0: not known yet
}

const (
	paceLook  = 8     // reads in a turn that looks
	paceCold  = 4     // reads of a turn that don't count
	paceFew   = 64    // reads in the shortest turn of the faster way
	paceMany  = 16384 // and in the longest
	paceGrow  = 8     // times as many in the next turn, if it is still the faster way
	paceCost  = 0.01  // of the time is for looking
	paceWorse = 1.5   // a turn ends when its reads take so much longer than before

	paceStalls = 3 // that end a turn
	paceSample = 4 // one in so many reads of the faster way is timed
)

func (p *pace) of(n int) *paceClass { return &p.class[min(max(bits.Len(uint(n))-13, 0), 15)] }

func (c *paceClass) times(w Way) *recent { return &c.took[w-Stream] }

// pick chooses a way for n bytes. Reads that are in flight together go the same
// way: mixed, they would wait for each other, and their times would say nothing.
func (p *pace) pick(n, inFlight int) Way {
	c := p.of(n)
	if inFlight == 0 || p.way == Auto {
		if c.left <= 0 || c.left%recentMost == 0 && c.worse() {
			c.turn()
		}
		p.way = c.way
	}
	if p.way == c.way {
		c.left--
		c.used++
	}
	return p.way
}

// worse says whether the faster way has become much slower than it was.
func (c *paceClass) worse() bool {
	return c.mid != 0 && !c.try && c.cold == 0 && c.times(c.way).mid() > paceWorse*c.mid
}

// turn begins the next turn: each way at first, then the faster one for long, and
// in between a look at the other.
func (c *paceClass) turn() {
	used := c.used
	c.used, c.left, c.cold, c.stalls = 0, paceLook, paceCold, 0
	stream, single := c.times(Stream), c.times(Copy)
	best, other := Stream, Copy
	if single.n != 0 && single.mid() < stream.mid() {
		best, other = Copy, Stream
	}
	switch {
	case stream.n == 0:
		c.way = Stream
	case single.n == 0:
		c.way = Copy
	case c.mid == 0 || c.try:
		if best != c.best { // perhaps by mistake: look again soon
			c.best, c.most = best, paceFew
		}
		c.way, c.try, c.mid = best, false, c.times(best).mid()
		looked := float64(used) * (c.times(other).mid() - c.mid)
		c.left = int(min(max(looked/(paceCost*c.mid), paceFew), float64(c.most)))
		c.most = min(paceGrow*c.most, paceMany)
	default:
		c.way, c.try = other, true
		*c.times(other) = recent{} // what it was is forgotten, so that it can come back
	}
}

// note takes the time of a read into account.
func (p *pace) note(w Way, n int, took float64) {
	c := p.of(n)
	if w == c.way && c.cold > 0 {
		c.cold--
		return
	}
	c.times(w).add(took)
}

// stalled notes that a read of n bytes waited in vain for the peer to stream. Once is
// a hiccup: the peer lost its core for a moment.
func (p *pace) stalled(n int) {
	c := p.of(n)
	t := c.times(Stream)
	t.add(max(2*t.mid(), float64(stallTime)))
	if c.way != Stream {
		return
	}
	if c.stalls++; c.stalls == paceStalls {
		c.left = 0
	}
}

const recentMost = 8

// recent is what the last few reads took. Their median says what a read takes
// when nothing comes between, however long the one that was interrupted took.
type recent struct {
	ns [recentMost]float64
	n  int // how many there have been
}

func (r *recent) add(took float64) {
	r.ns[r.n%recentMost] = took
	r.n++
}

// mid is the lower median; 0 if there is none.
func (r *recent) mid() float64 {
	s := r.ns
	n := min(r.n, recentMost)
	if n == 0 {
		return 0
	}
	slices.Sort(s[:n])
	return s[(n-1)/2]
}

// timed says whether the time of the next read of n bytes is taken: reading the
// clock twice is a fiftieth of a read of 64 KiB.
func (q *qp) timed(n int) bool {
	if q.dev.cfg.Read != Auto || q.pace.way == Auto {
		return false
	}
	c := q.pace.of(n)
	return c.mid == 0 || c.try || c.cold > 0 || q.reads > 0 || c.left%paceSample == 0
}

// measure takes a finished read into account. Reads that queued behind each
// other count from the end of the one before.
func (q *qp) measure(r *read) {
	if r.start.IsZero() || r.way == Direct {
		return
	}
	now := time.Now()
	since := r.start
	if q.pace.last.After(since) {
		since = q.pace.last
	}
	q.pace.last = now
	if p := &q.pace; r.way == Stream && p.streamed < chunkUnits*chunkUnit {
		p.streamed += len(r.dst)
		return
	}
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
	return q.pace.pick(n, q.reads)
}
