package comm

import (
	"context"
	"fmt"
)

// SendOne is Send of a single value. It allocates nothing, which a slice made for
// the call would do.
//
// It may be called concurrently. Its errors are those of [Send].
func SendOne[T any](ctx context.Context, c *Comm, v T, peer, tag int) error {
	w := c.world
	_, err := bytesOf[T](w, nil)
	s := w.scratch(len(valueBytes(&v)))
	copy(s.b, valueBytes(&v))
	if err != nil {
		err = c.sendWith(ctx, "SendOne", operand{s.b, elemOf[T](), err}, peer, tag, nil)
	} else {
		err = c.send(ctx, "SendOne", c.context, s.b, peer, tag)
	}
	if err == nil {
		w.drop(s)
	}
	return err
}

// RecvOne is Recv of a single value. It allocates nothing. A message that is not
// exactly one T is an error, ErrTruncated or ErrShort, with the message's length
// in the status, and a zero value; so is what comes from ProcNull, without an
// error.
//
// It may be called concurrently. Its other errors are those of [Recv].
func RecvOne[T any](ctx context.Context, c *Comm, peer, tag int) (T, Status, error) {
	var v, zero T
	w := c.world
	_, err := bytesOf[T](w, nil)
	s := w.scratch(len(valueBytes(&v)))
	var status Status
	if err != nil {
		status, err = c.recvWith(ctx, "RecvOne", operand{s.b, elemOf[T](), err}, peer, tag, nil)
	} else {
		status, err = c.recv(ctx, "RecvOne", c.context, s.b, peer, tag)
	}
	if err != nil {
		return zero, status, err
	}
	defer w.drop(s)
	if status.Source == ProcNull {
		return zero, status, nil
	}
	if status.Bytes < int64(len(s.b)) {
		return zero, status, c.fail("RecvOne", peer, tag, s.b, fmt.Errorf("%w: %d bytes of rank %d", ErrShort, status.Bytes, status.Source))
	}
	copy(valueBytes(&v), s.b)
	return v, status, nil
}
