package comm

import (
	"context"
	"errors"
)

// Sendrecv sends to rank dest and receives from rank source, at once: it never
// deadlocks with others that do the same, whatever the sizes, and dest or source
// may be this rank. The buffers must not overlap. The status is the receive's.
//
// If ctx ends first, its error is returned; what has not been matched has had no
// effect, and what has is complete. It may be called concurrently; errors are
// those of [Send] and [Recv].
func Sendrecv[S, R any](ctx context.Context, c *Comm, out []S, dest, sendTag int, in []R, source, recvTag int) (Status, error) {
	o, err := bytesOf(c.world, out)
	if err != nil {
		return Status{}, c.fail("Sendrecv", dest, sendTag, o, err)
	}
	i, err := bytesOf(c.world, in)
	if err != nil {
		return Status{}, c.fail("Sendrecv", source, recvTag, i, err)
	}
	return c.sendrecv(ctx, "Sendrecv", o, dest, sendTag, i, source, recvTag)
}

// SendrecvReplace is Sendrecv with one buffer: what it had is sent, and replaced
// by what is received. It keeps a copy of the message meanwhile.
func SendrecvReplace[T any](ctx context.Context, c *Comm, buf []T, dest, sendTag, source, recvTag int) (Status, error) {
	w := c.world
	b, err := bytesOf(w, buf)
	if err != nil {
		return Status{}, c.fail("SendrecvReplace", dest, sendTag, b, err)
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
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, source, recvTag, in)
	defer w.put(r)
	w.startRecv(r, c.context)
	s := w.get(c, op, dest, sendTag, out)
	defer w.put(s)
	if p := c.peers[dest]; p.open != nil && len(out) <= w.limit && !w.closed && p.open.Send(c.context, int32(sendTag), out) {
		s.complete(nil)
	} else {
		w.startSend(s, p, c.context, Standard)
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
		if !s.done && !w.withdrawSend(s) {
			if err := s.wait(uncancelled); err != nil {
				return Status{}, s.comm.fail(s.op, s.peer, s.tag, s.buf, err)
			}
		}
		if !withdrawn {
			if err := r.wait(uncancelled); err != nil {
				return Status{}, r.comm.fail(r.op, r.peer, r.tag, r.buf, err)
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
		return Status{}, r.comm.fail(r.op, r.peer, r.tag, r.buf, ended)
	case ended != nil && !s.done:
		status, err := r.result()
		return status, errors.Join(s.comm.fail(s.op, s.peer, s.tag, s.buf, ended), err)
	}
	return r.result()
}
