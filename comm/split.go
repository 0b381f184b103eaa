package comm

import (
	"cmp"
	"context"
	"slices"
)

// Undefined is the color of a rank that is to be in no new communicator, and the rank
// of one that is in no group.
const Undefined = -1<<30 + 3

// Split makes a communicator for each color: of the ranks that give it, ordered by key,
// and by their rank here where keys are equal. A rank with color Undefined gets nil.
// Colors and keys are any other numbers. Collective: every rank calls it, in the same
// order as its other collective calls on this communicator.
//
// It may be called concurrently on different communicators. If it fails on one rank,
// as when ctx ends there, it may have succeeded on others.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	return c.split(ctx, "Split", color, key)
}

// SplitShared makes a communicator for each host: of its ranks, ordered by key, and by
// their rank here where keys are equal. Ranks share a host if they can share memory:
// the same boot of the same kernel, the same network namespace and user. Names of hosts
// don't count. The rest is as for [Comm.Split].
func (c *Comm) SplitShared(ctx context.Context, key int) (*Comm, error) {
	color := 0
	if c.size != 0 {
		color = slices.IndexFunc(c.peers, func(p *peer) bool { return p.near })
	}
	return c.split(ctx, "SplitShared", color, key)
}

// bid is what a rank says in Split: its color and key, and a number that nobody has,
// for the case that it will be rank 0.
type bid struct{ color, key, context int64 }

func (c *Comm) split(ctx context.Context, op string, color, key int) (*Comm, error) {
	if c.size == 0 {
		return nil, c.fail(op, noPeer, 0, nil, ErrFreed)
	}
	w := c.world
	mine := bid{int64(color), int64(key), noContext}
	if color != Undefined {
		mine.context = int64(w.newContext())
	}
	bids, err := gather(ctx, c.beside(hidden), op, mine, c.nextCall())
	if err != nil {
		return nil, err // another rank may have chosen the number
	}
	if color == Undefined {
		return nil, nil
	}
	var members []int
	for r, b := range bids {
		if b.color == mine.color {
			members = append(members, r)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(bids[a].key, bids[b].key) })
	if members[0] != c.rank {
		w.unused(uint32(mine.context))
	}
	chosen := uint32(bids[members[0]].context)
	if chosen == noContext {
		return nil, c.fail(op, noPeer, 0, nil, errContexts)
	}
	return c.part(chosen, members), nil
}

// part is the communicator with a number that consists of some ranks of c, this one
// among them, in their order.
func (c *Comm) part(context uint32, members []int) *Comm {
	w := c.world
	peers := make([]*peer, len(members))
	ranks := make([]int32, w.size)
	for i := range ranks {
		ranks[i] = notMember
	}
	same := len(members) == w.size
	for i, r := range members {
		peers[i] = c.peers[r]
		ranks[peers[i].rank] = int32(i)
		same = same && peers[i].rank == i
	}
	rank := int(ranks[w.rank])
	if same {
		ranks = nil
	}
	return w.newComm(context, rank, peers, ranks)
}
