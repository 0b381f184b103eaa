package comm

import (
	"encoding/binary"
	"errors"

	"github.com/verbena-mpi/verbena/progress"
)

// Which partitioned receive belongs to which send is known on both sides, by counting
// the Init calls of a peer and a tag. What the receiver doesn't know is the number and
// length of the sender's partitions: the sender says it when it is started for the first
// time, in a message with the program's tag. Such a message may come before its
// receive is started, and those of one tag in any order.

// pairs is what a communicator keeps of partitioned sends and receives. Guarded by
// eng's lock.
type pairs struct {
	made    map[pairKey]uint32 // so many were
	tags    map[int]uint32     // that partitions to a rank were given, so far
	waiting map[pairID]*Partitioned
	early   map[pairID]parting // of receives that have not been started
}

type pairKey struct {
	peer, tag int
	recv      bool
}

type pairID struct {
	peer, tag int
	n         uint32
}

// nextOfPair counts the sends, or receives, of a peer and a tag.
func (c *Comm) nextOfPair(k pairKey) uint32 {
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if c.pairs == nil {
		c.pairs = &pairs{
			made: map[pairKey]uint32{}, tags: map[int]uint32{},
			waiting: map[pairID]*Partitioned{}, early: map[pairID]parting{},
		}
	}
	n := c.pairs.made[k]
	c.pairs.made[k] = n + 1
	return n
}

// partTags gives out tags for n partitions that are sent to a rank, each once. The lock
// is held.
func (c *Comm) partTags(peer, n int) (first uint32, ok bool) {
	first = c.pairs.tags[peer]
	if int64(first)+int64(n)-1 > MaxTag {
		return 0, false
	}
	c.pairs.tags[peer] = first + uint32(n)
	return first, true
}

// parting is what a send says of its partitions.
type parting struct {
	n     uint32 // the how manyth send it is of its tag
	parts uint32
	tag   uint32 // of the first one; those of the others follow
	bytes uint64 // in all
}

const partingSize = 20

// size is the length of a partition.
func (o parting) size() int { return int(o.bytes / uint64(o.parts)) }

func (o parting) put(b *[partingSize]byte) {
	binary.LittleEndian.PutUint32(b[:], o.n)
	binary.LittleEndian.PutUint32(b[4:], o.parts)
	binary.LittleEndian.PutUint32(b[8:], o.tag)
	binary.LittleEndian.PutUint64(b[12:], o.bytes)
}

// parseParting reads what a peer has sent, n bytes of it, and checks all of it.
func parseParting(b *[partingSize]byte, n int64) (o parting, ok bool) {
	o = parting{
		n: binary.LittleEndian.Uint32(b[:]), parts: binary.LittleEndian.Uint32(b[4:]),
		tag: binary.LittleEndian.Uint32(b[8:]), bytes: binary.LittleEndian.Uint64(b[12:]),
	}
	return o, n == partingSize && o.parts >= 1 && o.parts <= maxPartitions && o.bytes <= 1<<62 &&
		o.bytes%uint64(o.parts) == 0 && uint64(o.tag)+uint64(o.parts)-1 <= MaxTag
}

// pairing is a receive for what a send says of itself. It is for any of those of its
// peer and tag that wait: of those there are as many as wait.
type pairing struct {
	comm      *Comm
	peer, tag int
	recv      *request
	came      progress.Waiter // calls heard
	buf       [partingSize]byte
}

// pair has a receive hear of its send's partitions. The lock is held.
func (c *Comm) pair(p *Partitioned) {
	id := pairID{p.peer, p.tag, p.n}
	if o, ok := c.pairs.early[id]; ok {
		delete(c.pairs.early, id)
		p.hear(o, nil)
		return
	}
	c.pairs.waiting[id] = p
	g := &pairing{comm: c, peer: p.peer, tag: p.tag}
	g.came.Then(g.heard)
	g.post()
}

func (g *pairing) post() {
	c, w := g.comm, g.comm.world
	g.recv = w.getInner(c, "PrecvInit", g.peer, g.tag, g.buf[:])
	g.came.Left = 1
	g.recv.on = &g.came
	w.startRecv(g.recv, c.context|announcing)
}

// heard takes what has come. The lock is held.
func (g *pairing) heard() {
	c, w := g.comm, g.comm.world
	err, n := g.recv.err, g.recv.status.Bytes
	w.putInner(g.recv)
	o, ok := parseParting(&g.buf, n)
	if err == nil && !ok || err == ErrTruncated {
		err = errParting
		if from := c.peers[g.peer]; from.ep != nil && from.lost == nil {
			w.distrust(from, err)
		}
	}
	if err != nil {
		for id, p := range c.pairs.waiting {
			if id.peer == g.peer && id.tag == g.tag {
				delete(c.pairs.waiting, id)
				p.hear(o, err)
				return
			}
		}
		return
	}
	id := pairID{g.peer, g.tag, o.n}
	if p := c.pairs.waiting[id]; p != nil {
		delete(c.pairs.waiting, id)
		p.hear(o, nil)
		return
	}
	c.pairs.early[id] = o
	g.post()
}

var errParting = errors.New("what a partitioned send says of itself can't be")
