//go:build linux

package shm

import (
	"slices"

	"github.com/verbena-mpi/verbena/verbs"
)

// serve is a peer's read that this device streams.
type serve struct {
	qp      *qp
	key     uint64
	addr    uint64 // of the next byte
	left    uint64
	size    int // of a chunk
	token   uint64
	blocked bool // for want of a chunk or of a cell
	refuse  verbs.Status
}

// chunks is the ring of buffers through which a device streams, lent to the
// reads of all its peers. It rotates and is larger than a core's second-level
// cache: a chunk that was just read still lies in the reader's cache, and is slow
// to write.
type chunks struct {
	words []line // 0, or the reader's ring number plus one
	mem   []byte
	next  int
}

func (c *chunks) init(seg []byte) {
	c.words = views[line](seg, chunkWOff, chunkCount)
	c.mem = seg[chunkOff:ringsOff]
}

// peek returns the next chunk if it is free.
func (c *chunks) peek() (int, bool) {
	// Pairs with the store in readChunk: the old bytes have been read.
	for range chunkCount {
		if c.words[c.next].word.Load() == 0 {
			return c.next, true
		}
		c.next = (c.next + 1) % chunkCount // one slow reader must not stop the others
	}
	return 0, false
}

// serveNew takes a peer's request.
func (q *qp) serveNew(addr, key, n, token uint64) bool {
	if uint32(token) >= maxReads || n == 0 || len(q.dev.serves) >= maxReads*len(q.dev.qps) {
		return false
	}
	s := serve{qp: q, key: key, addr: addr, left: n, token: token}
	if q.dev.regions.lookup(key, addr, n) == nil {
		s.refuse = verbs.StatusRemoteAccess
	}
	s.size = int(min(max(n/4, 4<<10), chunkSize)+63) &^ 63
	q.dev.work.Add(1)
	q.dev.serves = append(q.dev.serves, s)
	return true
}

func (d *Device) serving() bool { return len(d.serves) != 0 }

// serveAll moves each peer's read by one chunk.
func (d *Device) serveAll() {
	for i := 0; i < len(d.serves); {
		s := &d.serves[i]
		done := s.step()
		if done {
			if !s.blocked {
				d.work.Add(-1)
			}
			d.serves = slices.Delete(d.serves, i, i+1)
			continue
		}
		i++
	}
}

// step sends one chunk. It returns true when nothing is left to do.
func (s *serve) step() bool {
	q := s.qp
	d := q.dev
	// Pairs with the stores in askStream and withdraw: a reader that has
	// withdrawn gets nothing more.
	if q.state != qpReady || q.link.reads[uint32(s.token)].word.Load() != s.token>>32 {
		return true
	}
	c, ok := d.chunk.peek()
	if !ok || !q.room() {
		s.setBlocked(true)
		return false
	}
	s.setBlocked(false)
	n := min(s.left, uint64(s.size))
	mem := d.regions.lookup(s.key, s.addr, n)
	if mem == nil && s.refuse == verbs.StatusOK {
		s.refuse = verbs.StatusRemoteAccess // closed meanwhile
	}
	if s.refuse != verbs.StatusOK {
		q.control(kindFailed, s.token, uint64(s.refuse))
		q.bell(true)
		return true
	}
	d.chunk.words[c].word.Store(uint64(q.theirs))
	d.chunk.next = (c + 1) % chunkCount
	copy(d.chunk.mem[c*chunkSize:], mem)
	q.control(kindChunk, s.token, uint64(c), n)
	q.bell(true)
	s.addr += n
	s.left -= n
	return s.left == 0
}

func (s *serve) setBlocked(b bool) {
	if s.blocked == b {
		return
	}
	s.blocked = b
	if b {
		s.qp.dev.work.Add(-1)
	} else {
		s.qp.dev.work.Add(1)
	}
}

// movable says whether advance would do something.
func (d *Device) movable() bool {
	if d.work.Load() != 0 {
		return true
	}
	if len(d.serves) == 0 {
		return false
	}
	_, chunk := d.chunk.peek()
	for i := range d.serves {
		if s := &d.serves[i]; chunk && s.qp.room() {
			return true
		}
	}
	return false
}

// chunksAnnounce tells readers that chunks and cells are wanted, and says
// whether there are some already.
func (d *Device) chunksAnnounce() bool {
	d.head.chunkWant.Store(1)
	for i := range d.serves {
		if q := d.serves[i].qp; q.state == qpReady {
			q.tx.want.Store(1)
		}
	}
	return d.movable()
}

// dropServes forgets the peer's reads.
func (q *qp) dropServes() {
	q.dev.serves = slices.DeleteFunc(q.dev.serves, func(s serve) bool {
		if s.qp == q && !s.blocked {
			q.dev.work.Add(-1)
		}
		return s.qp == q
	})
}

// releaseChunks takes back what a dead peer had not read.
func (d *Device) releaseChunks(peer uint32) {
	for i := range d.chunk.words {
		d.chunk.words[i].word.CompareAndSwap(uint64(peer), 0)
	}
}
