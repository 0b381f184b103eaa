package comm

import (
	"fmt"

	"github.com/verbena-mpi/verbena/progress"
)

// Partitioned is a send or a receive of one message in parts, which several goroutines
// make ready, or use, one by one: MPI's partitioned communication. It is made by
// [PsendInit] or [PrecvInit] and can be started any number of times. Of those that two
// ranks make for each other on a communicator, with one tag, the first send belongs to
// the first receive for good, the second to the second, and so on: the order is that
// of the Init calls, not of the starts, so calls with one tag must not be made
// concurrently. The two may have different numbers of partitions.
//
// Its methods may be called concurrently. One that isn't needed any more is simply
// dropped, whether or not it was ever started, but not while it is active.
type Partitioned struct {
	comm  *Comm
	op    string // the call that made it
	buf   []byte
	parts int
	size  int // of a partition, bytes
	peer  int
	tag   int
	recv  bool
	err   error  // of the arguments
	n     uint32 // the how manyth of its peer and tag

	// Guarded by eng's lock.
	last    Request // that Start has returned
	running bool    // pieces are missing
	failed  error   // how the last round ended
	paired  bool    // the receiver knows of the send's partitions
	other   parting // them
	wire    [partingSize]byte
	pieces  []*request // of this round: a send's partitions, which a receive has to do with
	left    progress.Waiter
	ready   []bool // of a send
}

// maxPartitions is the most that one send or receive may have.
const maxPartitions = 1 << 20

// PsendInit makes a send of buf in so many equal partitions. Nothing is sent yet: after
// Start each partition is sent when Ready says so. A partition must not be written from
// its Ready until the round's Wait. A bad argument comes out of each Wait; among them a
// buf that isn't parts times the same number of elements.
func PsendInit[T any](c *Comm, buf []T, parts, peer, tag int) *Partitioned {
	b, err := rawBytes(c.world, buf)
	return c.partitioned("PsendInit", false, b, elemOf[T]().size, parts, peer, tag, err)
}

// PrecvInit makes a receive into buf in so many equal partitions. Nothing is received
// yet: after Start, Arrived tells which partitions are there. buf must not be touched
// from Start until the round's Wait, but for partitions that have arrived. The source
// and the tag can't be wildcards. A bad argument comes out of each Wait.
//
// The send must be of as many bytes as buf has: if it is of more the round fails with
// ErrTruncated, and what fits is received; if it is of less, with ErrShort.
func PrecvInit[T any](c *Comm, buf []T, parts, peer, tag int) *Partitioned {
	b, err := rawBytes(c.world, buf)
	return c.partitioned("PrecvInit", true, b, elemOf[T]().size, parts, peer, tag, err)
}

func (c *Comm) partitioned(op string, recv bool, b []byte, size, parts, peer, tag int, err error) *Partitioned {
	p := &Partitioned{comm: c, op: op, buf: b, parts: parts, peer: peer, tag: tag, recv: recv, err: err}
	if p.err == nil {
		p.err = p.check(size)
	}
	if p.err != nil {
		return p
	}
	p.size = len(b) / parts
	p.left.Then(p.end)
	if !recv {
		p.ready = make([]bool, parts)
		p.pieces = make([]*request, parts+1) // and what it says of itself
	}
	if peer != ProcNull {
		p.n = c.nextOfPair(pairKey{peer, tag, recv})
	}
	return p
}

func (p *Partitioned) check(size int) error {
	if p.recv && p.peer == AnySource {
		return fmt.Errorf("%w: a partitioned receive names its source", ErrRank)
	}
	if p.recv && p.tag == AnyTag {
		return fmt.Errorf("%w: a partitioned receive names its tag", ErrTag)
	}
	if err := p.comm.checkTo(p.peer, p.tag); err != nil {
		return err
	}
	if p.parts < 1 || p.parts > maxPartitions {
		return fmt.Errorf("%w: %d partitions are not 1..%d", ErrPartition, p.parts, maxPartitions)
	}
	if n := len(p.buf) / size; n%p.parts != 0 {
		return fmt.Errorf("%w: %d elements are not %d equal partitions", ErrPartition, n, p.parts)
	}
	return nil
}

// Start begins a round: no partition is ready, none has arrived. The request is complete
// when all partitions are sent, or received. It must be ended before the next Start:
// until then another one fails, with ErrActive, and changes nothing about the first.
// All errors come out of Wait. It can't be canceled.
func (p *Partitioned) Start() Request {
	c, w := p.comm, p.comm.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, p.op, p.peer, p.tag, p.buf)
	q := Request{r, r.gen}
	if p.last.started() {
		r.complete(ErrActive)
		return q
	}
	p.last, p.running, p.failed = q, true, nil
	p.left.Left = 1 // until all is begun
	r.offered = false
	switch {
	case p.err != nil:
		p.failed = p.err
	case c.size == 0:
		p.failed = ErrFreed
	case w.closed:
		p.failed = ErrClosed
	case p.peer == ProcNull:
		p.beginNobody()
	default:
		r.to, r.more = c.peers[p.peer], true // so that it is known whom it waits for
		if p.recv {
			p.beginRecv()
		} else {
			p.failed = p.beginSend()
		}
	}
	if p.failed != nil {
		p.end()
		return q
	}
	w.eng.Done(&p.left)
	return q
}

// beginNobody starts a round with no rank on the other side.
func (p *Partitioned) beginNobody() {
	if !p.recv {
		clear(p.ready)
		p.left.Left += p.parts
	}
}

// end ends a round: all pieces are complete. The lock is held.
func (p *Partitioned) end() {
	err := p.failed
	for i, r := range p.pieces {
		if r == nil {
			continue
		}
		if err == nil && r.err != ErrTruncated { // of which fits has more to say
			err = r.err
		}
		p.comm.world.putInner(r)
		p.pieces[i] = nil
	}
	r := p.last.r
	r.status = Status{p.peer, p.tag, int64(len(p.buf))}
	switch {
	case p.peer == ProcNull:
		r.status = Status{Source: ProcNull, Tag: AnyTag}
	case p.recv && err == nil:
		r.status.Bytes = int64(p.other.bytes)
		err = p.fits()
	}
	p.running, p.failed = false, err
	r.complete(err)
}

// fits says whether the send is of as many bytes as the receive.
func (p *Partitioned) fits() error {
	switch n := uint64(len(p.buf)); {
	case p.other.bytes > n:
		return ErrTruncated
	case p.other.bytes < n:
		return fmt.Errorf("%w: %d bytes", ErrShort, p.other.bytes)
	}
	return nil
}

// fail makes the error of one of its methods.
func (p *Partitioned) fail(op string, err error) error {
	return p.comm.fail(op, p.peer, p.tag, p.buf, err)
}
