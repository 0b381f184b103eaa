package comm

import "context"

// Send sends buf to rank peer with a tag, and returns when buf may be used again:
// for a message up to the eager limit that is at once, whether or not it was
// received; for a longer one, or in [Sync] mode, when the receiver has it.
//
// If ctx ends first, its error is returned and nothing was sent. A longer message
// that its receiver has begun to take can't be taken back: the call goes on until the
// receiver has it or is gone. Between hosts it goes on until the receiver has said which
// it is: see [Request.Cancel].
func Send[T any](ctx context.Context, c *Comm, buf []T, peer, tag int, opts ...Option) error {
	b, err := bytesOf(c.world, buf)
	if err != nil || len(opts) != 0 {
		return c.sendWith(ctx, "Send", operand{b, elemOf[T](), err}, peer, tag, opts)
	}
	return c.send(ctx, "Send", c.context, b, peer, tag)
}

// Isend starts a send. The buffer must not be written until the request is
// complete. A bad argument comes out of Wait.
func Isend[T any](c *Comm, buf []T, peer, tag int, opts ...Option) Request {
	b, err := bytesOf(c.world, buf)
	if err != nil || len(opts) != 0 {
		return c.isendWith("Isend", operand{b, elemOf[T](), err}, peer, tag, opts)
	}
	return c.isend("Isend", b, peer, tag)
}

func (c *Comm) send(ctx context.Context, op string, context uint32, b []byte, peer, tag int) error {
	if err := c.checkTo(peer, tag); err != nil {
		return c.fail(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return nil
	}
	w := c.world
	w.eng.Lock()
	p := c.peers[peer]
	if p.open != nil && len(b) <= w.limit && !w.closed && p.open.Send(context, int32(tag), b) {
		w.eng.Unlock()
		return nil
	}
	return c.sendSlow(ctx, op, context, b, peer, tag, options{})
}

// sendSlow is send for what doesn't leave at once. The lock is held, and given
// back.
func (c *Comm) sendSlow(ctx context.Context, op string, context uint32, b []byte, peer, tag int, o options) error {
	w := c.world
	defer w.eng.Unlock()
	r := w.get(c, op, peer, tag, b)
	defer w.put(r)
	w.startSend(r, c.peers[peer], context, o)
	if err := r.wait(ctx); err != nil {
		if w.withdrawSend(r, err) {
			return c.fail(op, peer, tag, b, err)
		}
		if err := r.wait(uncancelled); err != nil {
			return c.fail(op, peer, tag, b, err)
		}
	}
	_, err := r.result()
	return err
}

func (c *Comm) isend(op string, b []byte, peer, tag int) Request {
	if err := c.checkTo(peer, tag); err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return sent()
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	p := c.peers[peer]
	if p.open != nil && len(b) <= w.limit && !w.closed && p.open.Send(c.context, int32(tag), b) {
		return sent()
	}
	r := w.get(c, op, peer, tag, b)
	w.startSend(r, p, c.context, options{})
	return Request{r, r.gen}
}

// failed is a request that is complete, with an error.
func (c *Comm) failed(op string, peer, tag int, b []byte, err error) Request {
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, peer, tag, b)
	r.complete(err)
	return Request{r, r.gen}
}

// startSend sends what the fast path did not. The lock is held.
func (w *World) startSend(r *request, p *peer, context uint32, o options) {
	r.setKind(o.kind)
	r.offered = o.mode == Sync || len(r.buf) > w.limit
	r.to, r.more, r.status = p, true, Status{r.peer, r.tag, int64(len(r.buf))}
	switch {
	case w.closed:
		r.complete(ErrClosed)
	case p.ep == nil:
		w.sendSelf(r, context)
	case p.lost != nil:
		r.complete(p.lost)
	case p.finished != nil && context != closeContext:
		r.complete(p.finished)
	case !r.offered:
		data := r.buf
		if w.types.checked {
			data = r.noted()
		}
		r.out.SetData(context, int32(r.tag), data)
		p.ep.Enqueue(&r.out)
	default:
		var note []byte
		if w.types.checked {
			note = r.note()
		}
		if err := p.via.rndv.Offer(&r.send, &p.sends, p.ep, context, int32(r.tag), r.buf, note); err != nil {
			r.complete(err)
		}
	}
}

// withdrawSend takes back a send that its receiver has not matched, as far as is known
// here: then it returns true. Else the receiver is asked perhaps, and the send ends with
// why or as if nothing had been.
func (w *World) withdrawSend(r *request, why error) bool {
	p := r.to
	switch {
	case r.done:
		return false
	case p.ep == nil:
		return w.withdrawSelf(r)
	case !r.offered:
		return p.ep.Withdraw(&r.out)
	}
	return p.via.rndv.Withdraw(&r.send, &p.sends, p.ep, why)
}
