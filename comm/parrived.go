package comm

import "fmt"

// Arrived says whether all of partition i is there, so that it may be used, and moves
// messages along. Its error is the round's, if that has failed, or says why i can't be
// asked for. After the round's end all partitions have arrived.
func (p *Partitioned) Arrived(i int) (bool, error) {
	w := p.comm.world
	w.eng.Lock()
	defer w.eng.Unlock()
	here, err := p.arrived(i)
	if !here && err == nil {
		w.eng.Poll()
		here, err = p.arrived(i)
	}
	if err != nil {
		return false, p.fail("Arrived", err)
	}
	return here, nil
}

func (p *Partitioned) arrived(i int) (bool, error) {
	switch {
	case !p.recv:
		return false, errNotRecv
	case p.err != nil:
		return false, p.err
	case uint(i) >= uint(p.parts):
		return false, fmt.Errorf("%w: %d is not in 0..%d", ErrPartition, i, p.parts-1)
	case p.last == Request{}:
		return false, ErrInactive
	case !p.running:
		return p.failed == nil, p.failed
	case !p.paired:
		return false, nil
	}
	first, end := p.piecesOf(i)
	for _, r := range p.pieces[first:end] {
		if !r.done || r.err != nil {
			return false, r.err
		}
	}
	return uint64((i+1)*p.size) <= p.other.bytes, nil
}

// piecesOf are the sender's partitions that lie in partition i of the receive.
func (p *Partitioned) piecesOf(i int) (first, end int) {
	all, size := len(p.pieces), p.other.size()
	if size == 0 || p.size == 0 {
		return 0, all // none is longer than the others
	}
	return min(i*p.size/size, all), min(((i+1)*p.size+size-1)/size, all)
}

// beginRecv starts a round of a receive. In the first it hears of the sender's
// partitions.
func (p *Partitioned) beginRecv() {
	if !p.paired {
		p.left.Left++
		p.comm.pair(p)
		return
	}
	p.recvPieces()
}

// hear tells a receive of its sender's partitions, or why it won't hear of them. The
// lock is held.
func (p *Partitioned) hear(o parting, err error) {
	if err != nil {
		p.failed = err
	} else {
		p.paired, p.other = true, o
		p.pieces = make([]*request, o.parts)
		p.recvPieces()
	}
	p.comm.world.eng.Done(&p.left)
}

// recvPieces receives the sender's partitions, each in its place, as far as there is
// room.
func (p *Partitioned) recvPieces() {
	c, w := p.comm, p.comm.world
	p.left.Left += len(p.pieces)
	size := p.other.size()
	for i := range p.pieces {
		b := p.buf[min(i*size, len(p.buf)):min((i+1)*size, len(p.buf))]
		r := w.getInner(c, p.op, p.peer, int(p.other.tag)+i, b)
		p.pieces[i] = r
		r.on = &p.left
		w.startRecv(r, c.context|partition)
	}
}
