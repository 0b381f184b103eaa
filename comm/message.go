package comm

import (
	"context"
	"fmt"
)

// Message is a message that a matched probe has found: it has been taken from
// those that receives can get, and RecvMessage receives it. A message that is not
// received keeps its sender waiting, if it is a long one.
type Message struct {
	comm   *Comm
	status Status

	// Guarded by the lock of the comm's world.
	record *unexpected // nil if it is empty
	taken  bool
}

// Status says who sent the message, and how long it is.
func (m *Message) Status() Status { return m.status }

// Mprobe is Probe that takes the message: only RecvMessage gets it from then on.
// It takes its turn among the receives that are posted.
//
// It may be called concurrently; each message goes to one caller. If ctx ends
// first its error is returned, and no message was taken.
func (c *Comm) Mprobe(ctx context.Context, peer, tag int) (*Message, error) {
	status, u, err := c.claim(ctx, "Mprobe", peer, tag)
	if err != nil {
		return nil, err
	}
	return &Message{comm: c, status: status, record: u}, nil
}

// Improbe is Mprobe that doesn't wait: it says whether it has found a message. It
// moves messages along; if there is none, it allocates nothing.
func (c *Comm) Improbe(peer, tag int) (*Message, bool, error) {
	if err := c.checkFrom(peer, tag); err != nil {
		return nil, false, c.fail("Improbe", peer, tag, nil, err)
	}
	if peer == ProcNull {
		return &Message{comm: c, status: Status{Source: ProcNull, Tag: AnyTag}}, true, nil
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	for {
		u, err := c.look(peer, tag)
		switch {
		case err != nil:
			return nil, false, c.fail("Improbe", peer, tag, nil, err)
		case u == nil:
			return nil, false, nil
		}
		w.table.RemoveUnexpected(&u.msg)
		if status := u.status(c); w.take(u) {
			return &Message{comm: c, status: status, record: u}, true, nil
		}
	}
}

// RecvMessage receives a message that Mprobe or Improbe has found, once: a second
// call for it fails with ErrDone. As it has been matched, a context counts only if
// it has ended before the call; then the message can still be received. The
// message may be shorter than buf; if it is longer, what fits is received and the
// error is ErrTruncated.
//
// It may be called concurrently: one of those that want the same message gets it.
func RecvMessage[T any](ctx context.Context, m *Message, buf []T, opts ...Option) (Status, error) {
	b, err := bytesOf(m.comm.world, buf)
	if err != nil || len(opts) != 0 {
		return m.recvWith(ctx, operand{b, elemOf[T](), err}, opts)
	}
	return m.recv(ctx, &view{buf: b})
}

func (m *Message) recv(ctx context.Context, v *view) (Status, error) {
	c := m.comm
	if err := ctx.Err(); err != nil {
		return Status{}, c.fail("RecvMessage", m.status.Source, m.status.Tag, v.buf, err)
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if m.taken {
		return Status{}, c.fail("RecvMessage", m.status.Source, m.status.Tag, v.buf, errTaken)
	}
	m.taken = true
	u := m.record
	m.record = nil
	return c.take("RecvMessage", v, m.status, u)
}

var errTaken = fmt.Errorf("%w: the message was received already", ErrDone)

// claim waits for a message and takes it from the table: nil if it is empty.
func (c *Comm) claim(ctx context.Context, op string, peer, tag int) (Status, *unexpected, error) {
	if err := c.checkFrom(peer, tag); err != nil {
		return Status{}, nil, c.fail(op, peer, tag, nil, err)
	}
	if peer == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, nil, nil
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, peer, tag, nil)
	defer w.put(r)
	r.claim = true
	w.startRecv(r, c.context)
	err := r.wait(ctx)
	if err != nil && !w.table.Remove(&r.recv) {
		err = r.wait(uncancelled) // it has matched: it is complete
	}
	var status Status
	if err != nil {
		err = c.fail(op, peer, tag, nil, err)
	} else {
		status, err = r.result()
	}
	u := r.claimed
	r.claim, r.claimed = false, nil
	return status, u, err
}

// take receives a message that was claimed. The lock is held.
func (c *Comm) take(op string, v *view, s Status, u *unexpected) (Status, error) {
	if u == nil {
		return s, nil
	}
	w := c.world
	r := w.get(c, op, s.Source, s.Tag, nil)
	defer w.put(r)
	r.spread(v)
	if w.closed {
		r.complete(ErrClosed)
	} else {
		w.giveUnexpected(r, u)
	}
	if err := r.wait(uncancelled); err != nil {
		return Status{}, r.fail(err)
	}
	return r.result()
}
