//go:build linux

package shm

import (
	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// chunks is the ring of buffers through which a device streams, lent to the
// reads of all its peers. A chunk is a run of units. Runs follow each other
// without gaps through the whole ring, which is larger than a core's second-level
// cache: a buffer that was read a moment ago still lies in the reader's cache, and
// crosses at a third of the speed. Who has what only the owner knows; a reader
// counts what it has given back.
type chunks struct {
	at   []loan // by unit: the run that begins there, if it is lent
	mem  []byte
	next int
	lent int  // units that readers have, as far as was looked
	warm bool // mem has its pages
}

// loan is a run that a reader has.
type loan struct {
	to    *qp
	units int // 0: not lent
}

// loans are the runs that one reader has, oldest first: it gives them back in that
// order.
type loans struct {
	runs  []run
	units int    // of all
	back  uint64 // units that came back before
}

type run struct{ unit, units uint16 }

func (c *chunks) init(seg []byte) {
	c.at = make([]loan, chunkUnits)
	c.mem = seg[chunkOff:ringsOff]
}

// chunkFor is the size of the chunks of a read of n bytes: small ones so that
// both sides copy at once, large ones where there are enough of them.
func chunkFor(n uint64) int {
	return int(min(max(n/4, chunkUnit), chunkMost)+chunkUnit-1) &^ (chunkUnit - 1)
}

func units(n int) int { return (n + chunkUnit - 1) / chunkUnit }

// lendable returns the first unit of a run that a reader can have, and how many of
// n bytes go in there: all, or fewer for a reader that has nothing. It has at most
// as much as is free besides, so that readers which have stopped leave something to
// the others.
func (d *Device) lendable(q *qp, n int) (unit, bytes int, ok bool) {
	for {
		if unit, ok = d.lendableRun(q, units(n)); ok || q.loans.units != 0 || n <= chunkUnit {
			return unit, n, ok
		}
		n = max(n/2&^(chunkUnit-1), chunkUnit)
	}
}

func (d *Device) lendableRun(q *qp, k int) (unit int, ok bool) {
	c := &d.chunk
	tooMuch := func() bool {
		left := chunkUnits - c.lent - k
		return left < 0 || q.loans.units+k > max(left, 1)
	}
	if tooMuch() {
		c.collect(q)
	}
	if tooMuch() {
		for _, o := range d.qps {
			c.collect(o)
		}
		if tooMuch() {
			return 0, false
		}
	}
	return c.find(k)
}

// collect notes what a reader has given back.
func (c *chunks) collect(q *qp) {
	l := &q.loans
	// Pairs with the store in giveBack: the old bytes have been read.
	n := q.rx.ring.back.Load() - l.back
	if n > uint64(l.units) { // it gives back what it doesn't have
		q.fail(verbs.StatusCorrupt)
		return
	}
	i := 0
	for ; i < len(l.runs) && n >= uint64(l.runs[i].units); i++ {
		n -= uint64(l.runs[i].units)
		c.free(l, l.runs[i])
	}
	l.runs = append(l.runs[:0], l.runs[i:]...)
}

func (c *chunks) free(l *loans, r run) {
	c.at[r.unit] = loan{}
	c.lent -= int(r.units)
	l.units -= int(r.units)
	l.back += uint64(r.units)
}

// find returns the first of k free units.
func (c *chunks) find(k int) (unit int, ok bool) {
	at, left := c.next, chunkUnits
	for left > 0 {
		if at+k > chunkUnits {
			left -= chunkUnits - at
			at = 0
			continue
		}
		busy := c.busy(at, k)
		if busy < 0 {
			c.next = at
			return at, true
		}
		if c.collect(c.at[busy].to); c.at[busy].units == 0 {
			continue
		}
		// A slow reader must not stop the others: go on behind what it has.
		skip := busy + c.at[busy].units - at
		at += skip
		left -= skip
		if at >= chunkUnits {
			at = 0
		}
	}
	return 0, false
}

// busy returns the first unit of a lent run that begins in [at, at+k), or -1. A
// run that begins before at doesn't reach it: at is where one has ended.
func (c *chunks) busy(at, k int) int {
	for i := at; i < at+k; i++ {
		if c.at[i].units != 0 {
			return i
		}
	}
	return -1
}

// take lends the run for n bytes at unit to a reader.
func (c *chunks) take(unit, n int, q *qp) []byte {
	if !c.warm {
		c.warm = true
		_ = unix.Madvise(c.mem, unix.MADV_POPULATE_WRITE)
	}
	k := units(n)
	q.loans.runs = append(q.loans.runs, run{uint16(unit), uint16(k)})
	q.loans.units += k
	c.lent += k
	c.at[unit] = loan{q, k}
	c.next = (unit + k) % chunkUnits
	return c.mem[unit*chunkUnit:][:n]
}

// giveBack tells the owner that a chunk of n bytes is read.
func (q *qp) giveBack(n int) {
	q.given += uint64(units(n))
	q.tx.back.Store(q.given) // pairs with the load in collect
	// An owner that sleeps for want of chunks has stored chunkWant and then
	// loads back once more.
	if want := &q.link.header.chunkWant; want.Load() != 0 && want.Swap(0) != 0 {
		q.link.bell.ring()
	}
}

// releaseChunks takes back what a dead peer had not read.
func (d *Device) releaseChunks(q *qp) {
	for _, r := range q.loans.runs {
		d.chunk.free(&q.loans, r)
	}
	q.loans.runs = nil
}
