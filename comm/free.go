package comm

import (
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/internal/match"
)

var (
	errNotMade  = errors.New("it was not made by a call: it ends with its world, or with its twin")
	errUnwanted = fmt.Errorf("the receiver will not take the message: there %w", ErrFreed)
)

// Free ends this rank's use of a communicator: calls on it fail from now on, with
// ErrFreed, and operations in flight go on. It is local: other ranks' use goes on.
//
// Messages on it for this rank that no receive has matched are released, those that
// come later too, and counted ("unexpected.dropped" in World.Info). A send that waits
// for its receiver, since it is long or in Sync mode, then fails with ErrFreed. Nothing
// of it comes to a later communicator: no two ever have one number.
//
// It must not be called concurrently with other calls on the communicator. The world's
// communicator can't be freed, nor a twin by itself.
func (c *Comm) Free() error {
	switch {
	case c == c.world.all || c == c.twin:
		return c.fail("Free", noPeer, 0, nil, errNotMade)
	case c.size == 0:
		return c.fail("Free", noPeer, 0, nil, ErrFreed)
	}
	c.size, c.twin.size = 0, 0 // so that no rank is one of theirs
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	w.setFreed(c.context)
	if w.closed || w.table.NumUnexpected() == 0 {
		return nil
	}
	id := c.context &^ spaces
	for u := range w.table.Unexpected(func(k match.Key) bool { return k.Context&^spaces == id }) {
		w.discard(u)
	}
	return nil
}

// discard releases a message that is in the table and that nobody will receive.
func (w *World) discard(u *unexpected) {
	w.table.RemoveUnexpected(&u.msg)
	if !w.take(u) {
		return // it was withdrawn
	}
	w.count.Dropped++
	if d := u.offered(); d != nil && d.from.lost == nil {
		d.from.via.rndv.Refuse(d.from.ep, d.offer)
	}
	if s := u.waiting(); s != nil {
		s.complete(errUnwanted)
	}
	w.putUnexpected(u)
}
