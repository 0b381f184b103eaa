package comm

import "context"

// Dup makes a communicator of the same ranks whose messages are apart from this
// one's: what is sent on one is never received on the other. A library that is
// given a communicator makes its own from it. Collective: every rank calls it, in
// the same order as its other collective calls on this communicator.
//
// It may be called concurrently on different communicators. If it fails on one rank,
// as when ctx ends there, it may have succeeded on others.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	if c.size == 0 {
		return nil, c.fail("Dup", noPeer, 0, nil, ErrFreed)
	}
	msg := [1]uint32{noContext}
	if c.rank == 0 {
		msg[0] = c.world.newContext()
	}
	if err := spread(ctx, c.beside(hidden), "Dup", msg[:], c.nextCall()); err != nil {
		return nil, err
	}
	if msg[0] == noContext {
		return nil, c.fail("Dup", noPeer, 0, nil, errContexts)
	}
	return c.world.newComm(msg[0], c.rank, c.peers, c.ranks), nil
}
