package comm

import (
	"errors"
	"fmt"
)

var (
	errNotSend  = errors.New("it is a receive")
	errNotRecv  = errors.New("it is a send")
	errReady    = errors.New("it is ready already")
	errNumbers  = errors.New("no numbers are left on the communicator: too many partitioned sends were made")
	errBackward = errors.New("the range ends before it begins")
)

// Ready says that partition i may be sent. Its message leaves at once, as that of an
// Isend. In each round every partition must be made ready, once, in any order and by
// any goroutines. An error says why i couldn't be; what becomes of its message is for
// Wait to say.
func (p *Partitioned) Ready(i int) error { return p.setReady("Ready", i, i+1) }

// ReadyRange makes the partitions from low on ready, up to the one before high, as in
// buf[low:high] (where MPI's range includes its end). If it fails none is.
func (p *Partitioned) ReadyRange(low, high int) error { return p.setReady("ReadyRange", low, high) }

func (p *Partitioned) setReady(op string, low, high int) error {
	w := p.comm.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if err := p.sends(); err != nil {
		return p.fail(op, err)
	}
	if low > high {
		return p.fail(op, fmt.Errorf("%w: %w", ErrPartition, errBackward))
	}
	for i := low; i < high; i++ {
		if err := p.unready(i); err != nil {
			return p.fail(op, err)
		}
	}
	p.left.Left++ // so that the round doesn't end within
	for i := low; i < high; i++ {
		p.ready[i] = true
		p.sendPart(i)
	}
	w.eng.Done(&p.left)
	return nil
}

// ReadyList makes the partitions of a list ready. If it fails none is.
func (p *Partitioned) ReadyList(parts ...int) error {
	w := p.comm.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if err := p.sends(); err != nil {
		return p.fail("ReadyList", err)
	}
	for k, i := range parts {
		if err := p.unready(i); err != nil {
			for _, i := range parts[:k] {
				p.ready[i] = false
			}
			return p.fail("ReadyList", err)
		}
		p.ready[i] = true // so that it is found if it is listed twice
	}
	p.left.Left++
	for _, i := range parts {
		p.sendPart(i)
	}
	w.eng.Done(&p.left)
	return nil
}

// sends says why no partition can be made ready. The lock is held.
func (p *Partitioned) sends() error {
	switch {
	case p.recv:
		return errNotSend
	case p.err != nil:
		return p.err
	case !p.running:
		return ErrInactive
	}
	return nil
}

// unready says why partition i can't be made ready.
func (p *Partitioned) unready(i int) error {
	switch {
	case uint(i) >= uint(p.parts):
		return fmt.Errorf("%w: %d is not in 0..%d", ErrPartition, i, p.parts-1)
	case p.ready[i]:
		return fmt.Errorf("%w: %d: %w", ErrPartition, i, errReady)
	}
	return nil
}

// beginSend starts a round of a send. Before its first partition the receiver is told
// how many there are, how long, and by which tags they come.
func (p *Partitioned) beginSend() error {
	if !p.paired {
		tag, ok := p.comm.partTags(p.peer, p.parts)
		if !ok {
			return errNumbers
		}
		p.other = parting{n: p.n, parts: uint32(p.parts), tag: tag, bytes: uint64(len(p.buf))}
		p.other.put(&p.wire)
		p.paired = true
		p.left.Left++
		p.sendPiece(p.parts, announcing, p.tag, p.wire[:])
	}
	clear(p.ready)
	p.left.Left += p.parts
	return nil
}

// sendPart sends partition i.
func (p *Partitioned) sendPart(i int) {
	if p.peer == ProcNull {
		p.comm.world.eng.Done(&p.left)
		return
	}
	p.sendPiece(i, partition, int(p.other.tag)+i, p.buf[i*p.size:(i+1)*p.size])
}

// sendPiece sends a message in one of the spaces of partitioned sends. The lock is
// held.
func (p *Partitioned) sendPiece(i int, space uint32, tag int, b []byte) {
	c, w := p.comm, p.comm.world
	to := c.peers[p.peer]
	if to.open != nil && len(b) <= w.limit && !w.closed && to.open.Send(c.context|space, int32(tag), b) {
		w.eng.Done(&p.left)
		return
	}
	r := w.getInner(c, p.op, p.peer, tag, b)
	p.pieces[i] = r
	r.on = &p.left
	w.startSend(r, to, c.context|space, options{})
}
