package comm

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Create makes a communicator of the ranks of a group, in the group's order. They are
// ranks of this communicator, and only they need call it, all with the same group and
// the same tag; one that isn't in the group gets nil. Calls of groups that have a rank
// in common may be made at once if their tags differ. The tag has nothing to do with
// those of messages. It is MPI_Comm_create_group.
//
// It may be called concurrently. If it fails on one rank, as when ctx ends there, it
// may have succeeded on others; another try takes another tag. Ranks that name
// different groups get an error, if all of them call it.
func (c *Comm) Create(ctx context.Context, g Group, tag int) (*Comm, error) {
	if err := c.checkTo(c.rank, tag); err != nil {
		return nil, c.fail("Create", noPeer, tag, nil, err)
	}
	members := make([]int, len(g.peers))
	in := false
	for i, p := range g.peers {
		if p.rank >= len(c.world.peers) || c.world.peers[p.rank] != p || !c.has(p) {
			err := fmt.Errorf("%w: rank %d of the group, which is %d in the world, is not in the communicator", ErrGroup, i, p.rank)
			return nil, c.fail("Create", noPeer, tag, nil, err)
		}
		members[i] = c.rankOf(p.rank)
		in = in || members[i] == c.rank
	}
	if !in {
		return nil, nil
	}
	// Their ranks are those of the group already, and their messages are apart.
	some := c.part(c.context|creating, members)
	mine := g.fingerprint()
	msg := [2]uint64{noContext, mine}
	if some.rank == 0 {
		msg[0] = uint64(c.world.newContext())
	}
	if err := spread(ctx, some, "Create", msg[:], tag); err != nil {
		return nil, err
	}
	switch {
	case msg[1] != mine:
		return nil, c.fail("Create", noPeer, tag, nil, errDiffer)
	case msg[0] == noContext:
		return nil, c.fail("Create", noPeer, tag, nil, errContexts)
	}
	return c.world.newComm(uint32(msg[0]), some.rank, some.peers, some.ranks), nil
}

// fingerprint is the same for the same ranks in the same order, and hardly else.
func (g Group) fingerprint() uint64 {
	h := fnv.New64a()
	for _, p := range g.peers {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(p.rank)))
	}
	return h.Sum64()
}
