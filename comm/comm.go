package comm

import (
	"context"
	"fmt"
)

// Comm is a communicator: a group of ranks with messages of their own. Its
// methods, and the functions that take it, may be called from any number of
// goroutines.
type Comm struct {
	world   *World
	context uint32
	rank    int
	size    int // 0 when it was freed
	deaths  int // of the world's, how many were reported here; guarded by eng's lock
}

// hidden is the context of the calls that are made of messages themselves, like
// Barrier: their messages can't be mistaken for the program's.
const hidden = 1 << 31

// Rank is this process's number in the communicator, from 0.
func (c *Comm) Rank() int { return c.rank }

// Size is how many ranks the communicator has: 0 when it was freed.
func (c *Comm) Size() int { return c.size }

// World is the world that the communicator belongs to.
func (c *Comm) World() *World { return c.world }

// fail makes the error of a call. It is never on the fast path.
func (c *Comm) fail(op string, peer, tag int, buf []byte, err error) error {
	rank := 0
	if c != nil {
		rank = c.rank
	}
	return &Error{Op: op, Rank: rank, Peer: peer, Tag: tag, Bytes: int64(len(buf)), Err: err}
}

// checkTo checks the arguments of a send.
func (c *Comm) checkTo(peer, tag int) error {
	if uint(peer) < uint(c.size) && uint(tag) <= MaxTag {
		return nil
	}
	return c.checkOdd(peer, tag, false)
}

// checkFrom checks the arguments of a receive.
func (c *Comm) checkFrom(peer, tag int) error {
	if uint(peer) < uint(c.size) && uint(tag) <= MaxTag {
		return nil
	}
	return c.checkOdd(peer, tag, true)
}

// checkOdd checks what is not an ordinary rank and tag.
func (c *Comm) checkOdd(peer, tag int, recv bool) error {
	if c.size == 0 {
		return ErrFreed
	}
	also, anyTag := "", ""
	if recv {
		also, anyTag = ", for any comm.AnySource", " (for any tag use comm.AnyTag)"
	}
	if uint(peer) >= uint(c.size) && peer != ProcNull && !(recv && peer == AnySource) {
		return fmt.Errorf("%w: rank %d is not in 0..%d (for no neighbour use comm.ProcNull%s)", ErrRank, peer, c.size-1, also)
	}
	if uint(tag) > MaxTag && !(recv && tag == AnyTag) {
		return fmt.Errorf("%w: tag %d is not in 0..%d%s", ErrTag, tag, MaxTag, anyTag)
	}
	return nil
}

// Barrier returns when all ranks of the communicator have called it. Collective:
// every rank calls it, in the same order as its other collective calls.
//
// It is the dissemination algorithm: in round k each rank tells the rank 2ᵏ above
// it, and hears from the one 2ᵏ below; ⌈log₂ size⌉ rounds.
func (c *Comm) Barrier(ctx context.Context) error {
	if c.size == 0 {
		return c.fail("Barrier", noPeer, 0, nil, ErrFreed)
	}
	for k := 1; k < c.size; k *= 2 {
		to, from := (c.rank+k)%c.size, (c.rank-k+c.size)%c.size
		if err := c.send(ctx, "Barrier", c.context|hidden, nil, to, k); err != nil {
			return err
		}
		if _, err := c.recv(ctx, "Barrier", c.context|hidden, nil, from, k); err != nil {
			return err
		}
	}
	return nil
}
