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
	blocked bool // behind another of its peer, or for want of a chunk or of a cell
	refuse  verbs.Status
}

// serveNew takes a peer's request.
func (q *qp) serveNew(addr, key, n, token uint64) bool {
	if uint32(token) >= maxReads || n == 0 {
		return false
	}
	if d := q.dev; len(d.serves) >= maxReads*len(d.qps) {
		// A peer has at most maxReads reads, but those that it has withdrawn
		// are in the list until it is their turn.
		d.dropWithdrawn()
		if len(d.serves) >= maxReads*len(d.qps) {
			return false
		}
	}
	s := serve{qp: q, key: key, addr: addr, left: n, token: token}
	if q.dev.regions.lookup(key, addr, n) == nil {
		s.refuse = verbs.StatusRemoteAccess
	}
	s.size = chunkFor(n)
	if s.blocked = q.dev.oldest(q) != nil; !s.blocked {
		q.dev.work.Add(1)
	}
	q.dev.serves = append(q.dev.serves, s)
	return true
}

func (d *Device) serving() bool { return len(d.serves) != 0 }

// serveAll moves the oldest read of each peer by one chunk. The others of that
// peer wait: side by side they would all end late.
func (d *Device) serveAll() {
	d.round++
	for i := 0; i < len(d.serves); {
		s := &d.serves[i]
		if s.qp.served == d.round {
			i++
			continue
		}
		s.qp.served = d.round
		if !s.step() {
			i++
			continue
		}
		q := s.qp
		s.setBlocked(true)
		d.serves = slices.Delete(d.serves, i, i+1)
		if next := d.oldest(q); next != nil {
			next.setBlocked(false)
		}
	}
}

// oldest returns the peer's read whose turn it is, or nil.
func (d *Device) oldest(q *qp) *serve {
	for i := range d.serves {
		if d.serves[i].qp == q {
			return &d.serves[i]
		}
	}
	return nil
}

// step sends one chunk. It returns true when nothing is left to do.
func (s *serve) step() bool {
	q := s.qp
	d := q.dev
	if q.state != qpReady || s.withdrawn() {
		return true
	}
	c, size, ok := d.lendable(q, int(min(s.left, uint64(s.size))))
	n := uint64(size)
	if !ok || !q.room() {
		s.setBlocked(true)
		return false
	}
	s.setBlocked(false)
	mem := d.regions.lookup(s.key, s.addr, n)
	if mem == nil && s.refuse == verbs.StatusOK {
		s.refuse = verbs.StatusRemoteAccess // closed meanwhile
	}
	if s.refuse != verbs.StatusOK {
		q.control(kindFailed, s.token, uint64(s.refuse))
		q.bell(true)
		return true
	}
	copy(d.chunk.take(c, size, q), mem)
	q.control(kindChunk, s.token, uint64(c), n)
	q.bell(true)
	s.addr += n
	s.left -= n
	return s.left == 0
}

// withdrawn says whether the reader has given up: it gets nothing more. The load
// pairs with the stores in askStream and withdraw.
func (s *serve) withdrawn() bool {
	return s.qp.link.reads[uint32(s.token)].word.Load() != s.token>>32
}

func (d *Device) dropWithdrawn() {
	d.serves = slices.DeleteFunc(d.serves, func(s serve) bool {
		if !s.withdrawn() {
			return false
		}
		s.setBlocked(true)
		return true
	})
	for i := range d.serves {
		d.oldest(d.serves[i].qp).setBlocked(false)
	}
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
	for i := range d.serves {
		s := &d.serves[i] // the oldest of its peer, or it has the same wants
		if _, _, ok := d.lendable(s.qp, int(min(s.left, uint64(s.size)))); ok && s.qp.room() {
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
