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
	warm  bool // mem has its pages
}

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

// find returns the first unit of a free run for n bytes.
func (c *chunks) find(n int) (unit int, ok bool) {
	k := units(n)
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
func (c *chunks) take(unit, n int, reader uint32) []byte {
	if !c.warm {
		c.warm = true
		_ = unix.Madvise(c.mem, unix.MADV_POPULATE_WRITE)
	}
	c.size[unit], c.to[unit] = units(n), reader
	c.words[unit].word.Store(uint64(reader))
	c.next = (unit + units(n)) % chunkUnits
	return c.mem[unit*chunkUnit:][:n]
}

// releaseChunks takes back what a dead peer had not read.
func (d *Device) releaseChunks(peer uint32) {
	for i := range d.chunk.words {
		d.chunk.words[i].word.CompareAndSwap(uint64(peer), 0)
	}
}
