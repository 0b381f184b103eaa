package comm

import (
	"context"
	"errors"
)

// ErrFreed ends calls on a communicator that was freed.
var ErrFreed = errors.New("the communicator was freed")

// Dup makes a communicator of the same ranks whose messages are apart from this
// one's: what is sent on one is never received on the other. A library that is
// given a communicator makes its own from it. Collective: every rank calls it, in
// the same order as its other collective calls on this communicator.
//
// It may be called concurrently on different communicators.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	if c.size == 0 {
		return nil, c.fail("Dup", noPeer, 0, nil, ErrFreed)
	}
	// From rank 0 to all, by doubling: in each round those that know it tell as
	// many others.
	msg := []uint32{c.newContext()}
	b, err := bytesOf(c.world, msg)
	for k := 1; k < c.size && err == nil; k *= 2 {
		switch {
		case c.rank < k && c.rank+k < c.size:
			err = c.send(ctx, "Dup", c.context|hidden, b, c.rank+k, tagDup)
		case c.rank >= k && c.rank < 2*k:
			_, err = c.recv(ctx, "Dup", c.context|hidden, b, c.rank-k, tagDup)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case msg[0] == noContext:
		return nil, c.fail("Dup", noPeer, 0, nil, errContexts)
	}
	return c.world.newComm(msg[0], c.rank, c.peers, c.ranks), nil
}

// tagDup is no tag of Barrier's.
const tagDup = 0

var errContexts = errors.New("no communicator is left: too many were made")

// newContext is a context that no communicator has had: rank r of the world gives
// out the numbers that are r modulo its size, each once, and rank 0 of the parent
// chooses. So ranks that make communicators at the same time, in different orders,
// agree; and nothing that is still on its way meets a successor's receives. Only
// rank 0's choice counts.
func (c *Comm) newContext() uint32 {
	if c.rank != 0 {
		return noContext
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	id := firstContext + w.contexts*uint64(w.size) + uint64(w.rank)
	if id >= endContext {
		return noContext
	}
	w.contexts++
	return uint32(id)
}

// noContext is no communicator's.
const (
	noContext    = 0
	worldContext = 1
	firstContext = 2
)

// Free ends this rank's use of a communicator: calls on it fail from now on, with
// ErrFreed, and operations in flight go on. It must not be called concurrently with
// other calls on the communicator, nor before all of its messages are received. The
// world's communicator can't be freed, nor a twin by itself.
func (c *Comm) Free() error {
	switch {
	case c == c.world.all || c == c.twin:
		return c.fail("Free", noPeer, 0, nil, errNotMade)
	case c.size == 0:
		return c.fail("Free", noPeer, 0, nil, ErrFreed)
	}
	c.size, c.twin.size = 0, 0 // so that no rank is one of theirs
	return nil
}

var errNotMade = errors.New("it was not made by a call: it ends with its world, or with its twin")
