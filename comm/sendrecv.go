package comm

import (
	"context"
	"errors"
)

// Sendrecv sends to rank dest and receives from rank source, at once: it never
// deadlocks with others that do the same, whatever the sizes, and dest or source
// may be this rank. The buffers must not overlap. The status is the receive's.
//
// A [Mode] is the send's. One [Layout] is that of both buffers; of two the first is
// out's and the second in's. With layouts both buffers may be slices of the same array,
// if no element is in both.
//
// If ctx ends first, its error is returned; what has not been matched has had no
// effect, and what has is complete. It may be called concurrently; errors are
// those of [Send] and [Recv].
func Sendrecv[S, R any](ctx context.Context, c *Comm, out []S, dest, sendTag int, in []R, source, recvTag int, opts ...Option) (Status, error) {
	o, err := bytesOf(c.world, out)
	i, inErr := bytesOf(c.world, in)
	if err != nil || inErr != nil || len(opts) != 0 {
		return c.sendrecvWith(ctx, operand{o, elemOf[S](), err}, dest, sendTag, operand{i, elemOf[R](), inErr}, source, recvTag, opts)
	}
	return c.sendrecv(ctx, "Sendrecv", o, dest, sendTag, i, source, recvTag)
}

// SendrecvReplace is Sendrecv with one buffer: what it had is sent, and replaced
// by what is received. It keeps a copy of the message meanwhile. With a [Layout] what it
// describes is sent and replaced.
func SendrecvReplace[T any](ctx context.Context, c *Comm, buf []T, dest, sendTag, source, recvTag int, opts ...Option) (Status, error) {
	w := c.world
	b, err := bytesOf(w, buf)
	if err != nil || len(opts) != 0 {
		return c.replaceWith(ctx, operand{b, elemOf[T](), err}, dest, sendTag, source, recvTag, opts)
	}
	s := w.scratch(len(b))
	copy(s.b, b)
	status, err := c.sendrecv(ctx, "SendrecvReplace", s.b, dest, sendTag, b, source, recvTag)
	if err == nil {
		w.drop(s)
	}
	return status, err
}

// sendrecv posts the receive before the send, and waits for both.
func (c *Comm) sendrecv(ctx context.Context, op string, out []byte, dest, sendTag int, in []byte, source, recvTag int) (Status, error) {
	if err := c.checkTo(dest, sendTag); err != nil {
		return Status{}, c.fail(op, dest, sendTag, out, err)
	}
	if err := c.checkFrom(source, recvTag); err != nil {
		return Status{}, c.fail(op, source, recvTag, in, err)
	}
	if source == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, c.send(ctx, op, c.context, out, dest, sendTag)
	}
	if dest == ProcNull {
		return c.recv(ctx, op, c.context, in, source, recvTag)
	}
	return c.exchange(ctx, op, out, dest, sendTag, options{}, &view{buf: in}, source, recvTag)
}

// exchange is sendrecv with two ranks that there are.
func (c *Comm) exchange(ctx context.Context, op string, out []byte, dest, sendTag int, o options, in *view, source, recvTag int) (Status, error) {
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, source, recvTag, nil)
	defer w.put(r)
	r.spread(in)
	w.startRecv(r, c.context)
	s := w.get(c, op, dest, sendTag, out)
	defer w.put(s)
	if p := c.peers[dest]; o.mode != Sync && p.open != nil && len(out) <= w.limit && !w.closed && p.open.Send(c.context, int32(sendTag), out) {
		s.complete(nil)
	} else {
		w.startSend(s, p, c.context, o)
	}
	return w.finishBoth(ctx, s, r)
}

// finishBoth waits for a send and a receive. If the send fails, or ctx ends, what
// can be withdrawn is: nobody may be left to complete it. The lock is held.
func (w *World) finishBoth(ctx context.Context, s, r *request) (Status, error) {
	ended := s.wait(ctx)
	if ended == nil && s.err == nil {
		ended = r.wait(ctx)
	}
	if ended != nil || s.err != nil {
		withdrawn := w.table.Remove(&r.recv)
		if !s.done && !w.withdrawSend(s, ended) {
			if err := s.wait(uncancelled); err != nil {
				return Status{}, s.fail(err)
			}
		}
		if !withdrawn {
			if err := r.wait(uncancelled); err != nil {
				return Status{}, r.fail(err)
			}
		}
	}
	switch {
	case s.err != nil:
		_, err := s.result()
		if r.done && r.err == nil {
			return r.status, err
		}
		return Status{}, err
	case ended != nil && !r.done:
		return Status{}, r.fail(ended)
	case ended != nil && !s.done:
		status, err := r.result()
		return status, errors.Join(s.fail(ended), err)
	}
	return r.result()
}
