package comm

import "errors"

// ErrFreed ends calls on a communicator that was freed.
var ErrFreed = errors.New("the communicator was freed")

var errNotMade = errors.New("it was not made by a call: it ends with its world, or with its twin")

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
