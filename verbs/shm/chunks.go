//go:build linux

package shm

import "golang.org/x/sys/unix"

// chunks is the ring of buffers through which a device streams, lent to the
// reads of all its peers. A chunk is a run of units; its first unit's word says
// who has it. Runs follow each other without gaps through the whole ring, which
// is larger than a core's second-level cache: a buffer that was read a moment ago
// still lies in the reader's cache, and crosses at a third of the speed.
type chunks struct {
	words []line   // by unit: 0, or the ring number plus one of the reader that has the run
	size  []int    // of the run that was lent last at this unit, in units
	to    []uint32 // whom it was lent to; 0: none began here yet
	mem   []byte
	next  int
	lent  int  // units that readers have, as far as was looked
	warm  bool // mem has its pages
}

// loans are the runs that one reader has, oldest first: it gives them back in that
// order.
type loans struct {
	runs  []run
	units int // of all
}

type run struct{ unit, units uint16 }

func (c *chunks) init(seg []byte) {
	c.words = views[line](seg, chunkWOff, chunkUnits)
	c.size = make([]int, chunkUnits)
	c.to = make([]uint32, chunkUnits)
	c.mem = seg[chunkOff:ringsOff]
}

// chunkFor is the size of the chunks of a read of n bytes: small ones so that
// both sides copy at once, large ones where there are enough of them.
func chunkFor(n uint64) int {
	return int(min(max(n/4, chunkUnit), chunkMost)+chunkUnit-1) &^ (chunkUnit - 1)
}

func units(n int) int { return (n + chunkUnit - 1) / chunkUnit }

// lendable returns the first unit of a run of n bytes that a reader can have: it
// has at most as much as is free besides, so that readers which have stopped, any
// number of them, leave something to the others.
func (d *Device) lendable(q *qp, n int) (unit int, ok bool) {
	c := &d.chunk
	tooMuch := func() bool { return q.loans.units+units(n) > chunkUnits-c.lent }
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
	return c.find(units(n))
}

// collect notes what a reader has given back.
func (c *chunks) collect(q *qp) {
	l := &q.loans
	i := 0
	for i < len(l.runs) && c.words[l.runs[i].unit].word.Load() != uint64(q.theirs) {
		l.units -= int(l.runs[i].units)
		c.lent -= int(l.runs[i].units)
		i++
	}
	l.runs = append(l.runs[:0], l.runs[i:]...)
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
		// A slow reader must not stop the others: go on behind what it has.
		skip := busy + c.size[busy] - at
		at += skip
		left -= skip
		if at >= chunkUnits {
			at = 0
		}
	}
	return 0, false
}

// busy returns the first unit of a lent run that begins in [at, at+k), or -1. A
// run that begins before at doesn't reach it: at is where one has ended. Peers can
// write the words: anything but what was lent counts as free.
func (c *chunks) busy(at, k int) int {
	for i := at; i < at+k; i++ {
		// Pairs with the store in readChunk: the old bytes have been read.
		if w := c.words[i].word.Load(); w != 0 && w == uint64(c.to[i]) {
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
	c.size[unit], c.to[unit] = k, q.theirs
	c.words[unit].word.Store(uint64(q.theirs))
	c.next = (unit + k) % chunkUnits
	return c.mem[unit*chunkUnit:][:n]
}

// releaseChunks takes back what a dead peer had not read.
func (d *Device) releaseChunks(q *qp) {
	for i := range d.chunk.words {
		d.chunk.words[i].word.CompareAndSwap(uint64(q.theirs), 0)
	}
	d.chunk.lent -= q.loans.units
	q.loans = loans{}
}
