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
	size    int     // 0 when it was freed
	peers   []*peer // its ranks, in order
	ranks   []int32 // of each rank of the world, the rank here, or notMember; nil: the same one
	twin    *Comm   // see Hidden

	// Guarded by eng's lock.
	deaths int    // of the world's, how many were looked at here
	calls  uint32 // that make communicators, so far
	pairs  *pairs // of partitioned sends and receives; nil without any
}

// newComm makes a communicator with a number that its members have agreed on.
func (w *World) newComm(context uint32, rank int, peers []*peer, ranks []int32) *Comm {
	c := &Comm{world: w, context: context, rank: rank, size: len(peers), peers: peers, ranks: ranks}
	c.twin = c.beside(twin)
	c.twin.twin = c.twin
	return c
}

// beside is a communicator of the same ranks in one of the spaces beside c's.
func (c *Comm) beside(space uint32) *Comm {
	return &Comm{world: c.world, context: c.context | space, rank: c.rank, size: c.size, peers: c.peers, ranks: c.ranks}
}

// Hidden returns the communicator's twin: the same ranks, with messages that are apart
// from those of this communicator, and it takes no communication to make it. It is for
// libraries that send messages on the program's behalf, as the collective operations
// of comm/coll do. Each call returns the same one; it is freed with this one. A library
// whose messages could meet another library's makes a communicator of its own, by Dup.
func (c *Comm) Hidden() *Comm { return c.twin }

// notMember is the rank here of those that are not in the communicator.
const notMember = -1

// rankOf is the rank in the communicator of one of its peers, by its rank in the world.
func (c *Comm) rankOf(world int) int {
	if c.ranks == nil {
		return world
	}
	return int(c.ranks[world])
}

// has says whether p is in the communicator.
func (c *Comm) has(p *peer) bool { return c.ranks == nil || c.ranks[p.rank] != notMember }

// worldRank is the rank in the world of a rank here, or of a wildcard.
func (c *Comm) worldRank(peer int) int {
	if uint(peer) < uint(len(c.peers)) {
		return c.peers[peer].rank
	}
	return peer
}

// alone says whether all other ranks of the communicator are gone or in Close. The
// lock is held.
func (c *Comm) alone() bool {
	if c.world.living == 0 {
		return true
	}
	if c.ranks == nil {
		return false
	}
	for _, p := range c.peers {
		if p.ep != nil && p.lost == nil && p.finished == nil {
			return false
		}
	}
	return true
}

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
	return c.barrier(ctx, c.context|hidden)
}

func (c *Comm) barrier(ctx context.Context, context uint32) error {
	for k := 1; k < c.size; k *= 2 {
		to, from := (c.rank+k)%c.size, (c.rank-k+c.size)%c.size
		if err := c.send(ctx, "Barrier", context, nil, to, k); err != nil {
			return err
		}
		if _, err := c.recv(ctx, "Barrier", context, nil, from, k); err != nil {
			return err
		}
	}
	return nil
}
