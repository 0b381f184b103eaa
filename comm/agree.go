package comm

import (
	"context"
	"errors"
)

// What the calls that make communicators tell their members. Its messages are in a
// space of their own beside the communicator's, and have the number of the call as
// their tag: what a call that failed has left behind is not taken for a later one's.

// nextCall is the tag of a call that makes communicators: all ranks make them in the
// same order.
func (c *Comm) nextCall() int {
	c.world.eng.Lock()
	defer c.world.eng.Unlock()
	c.calls++
	return int(c.calls % MaxTag)
}

// errDiffer: what came is not of the same call.
var errDiffer = errors.New("the ranks are in different calls, or name different ranks")

// spread gives what rank 0 has in buf to all, by doubling: in each round those that
// have it tell as many others. ⌈log₂ size⌉ rounds.
func spread[T any](ctx context.Context, c *Comm, op string, buf []T, tag int) error {
	b, err := rawBytes(c.world, buf)
	for k := 1; k < c.size && err == nil; k *= 2 {
		switch {
		case c.rank < k && c.rank+k < c.size:
			err = c.send(ctx, op, c.context, b, c.rank+k, tag)
		case c.rank >= k && c.rank < 2*k:
			var s Status
			s, err = c.recv(ctx, op, c.context, b, c.rank-k, tag)
			err = c.whole(op, b, s, err)
		}
	}
	return err
}

// gather gives each rank what all have, by rank. It is Bruck's algorithm: in round k
// each rank passes what it has, from 2ᵏ ranks, to the one 2ᵏ below. ⌈log₂ size⌉ rounds.
func gather[T any](ctx context.Context, c *Comm, op string, mine T, tag int) ([]T, error) {
	n := c.size
	got := make([]T, n) // of this rank, of the next one, …
	got[0] = mine
	b, err := rawBytes(c.world, got)
	if err != nil {
		return nil, err
	}
	one := len(b) / n
	for k := 1; k < n; k *= 2 {
		m := min(k, n-k)
		out, in := b[:m*one], b[k*one:(k+m)*one]
		s, err := c.sendrecv(ctx, op, out, (c.rank-k+n)%n, tag, in, (c.rank+k)%n, tag)
		if err := c.whole(op, in, s, err); err != nil {
			return nil, err
		}
	}
	return append(got[n-c.rank:], got[:n-c.rank]...), nil
}

// whole checks that a message was as long as those of the call are.
func (c *Comm) whole(op string, b []byte, s Status, err error) error {
	if errors.Is(err, ErrTruncated) || err == nil && s.Bytes != int64(len(b)) {
		return c.fail(op, s.Source, s.Tag, b, errDiffer)
	}
	return err
}
