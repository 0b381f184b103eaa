package comm

import "context"

// What the calls do that are given options. Each is called in a branch of its own,
// so that those without options pay for nothing but a look at how many there are.

// operand is a call's buffer: its memory, its element type, and the error that bytesOf has
// returned.
type operand struct {
	b    []byte
	elem elem
	err  error
}

// sendArgs looks through the arguments of a send, or of a call with so many buffers.
func (c *Comm) sendArgs(b operand, peer, tag int, opts []Option, buffers int) (view, options, error) {
	kind, err := c.world.types.kind(b.elem, b.err)
	if err != nil {
		return view{}, options{}, err
	}
	o, err := sendOptions(opts, buffers)
	if err == nil {
		err = c.checkTo(peer, tag)
	}
	if err != nil {
		return view{}, o, err
	}
	o.kind = kind
	v, err := o.layout.view(b.b, b.elem.size)
	return v, o, err
}

func (c *Comm) sendWith(ctx context.Context, op string, b operand, peer, tag int, opts []Option) error {
	v, o, err := c.sendArgs(b, peer, tag, opts, 1)
	if err != nil {
		return c.fail(op, peer, tag, b.b, err)
	}
	if peer == ProcNull {
		return nil
	}
	if v.places == nil {
		return c.sendMode(ctx, op, v.buf, peer, tag, o)
	}
	s, err := c.world.pack(&v)
	if err != nil {
		return c.fail(op, peer, tag, b.b, err)
	}
	err = c.sendMode(ctx, op, s.b, peer, tag, o)
	c.world.eng.Lock()
	defer c.world.eng.Unlock()
	c.world.unpacked(s, err)
	return err
}

func (c *Comm) sendMode(ctx context.Context, op string, b []byte, peer, tag int, o options) error {
	switch {
	case o.mode == Buffered:
		w := c.world
		w.eng.Lock()
		defer w.eng.Unlock()
		if err := w.sendBuffered(c, op, b, peer, tag, o); err != nil {
			return c.fail(op, peer, tag, b, err)
		}
		return nil
	case o.mode == Sync || o.kind != nil:
		c.world.eng.Lock()
		return c.sendSlow(ctx, op, c.context, b, peer, tag, o)
	}
	return c.send(ctx, op, c.context, b, peer, tag)
}

func (c *Comm) isendWith(op string, b operand, peer, tag int, opts []Option) Request {
	v, o, err := c.sendArgs(b, peer, tag, opts, 1)
	if err != nil {
		return c.failed(op, peer, tag, b.b, err)
	}
	if peer == ProcNull {
		return sent()
	}
	if v.places == nil {
		return c.isendMode(op, v.buf, peer, tag, o)
	}
	s, err := c.world.pack(&v)
	if err != nil {
		return c.failed(op, peer, tag, b.b, err)
	}
	q := c.isendMode(op, s.b, peer, tag, o)
	c.world.eng.Lock()
	defer c.world.eng.Unlock()
	if q.r == nil { // it has left
		c.world.unpacked(s, nil)
	} else {
		q.r.staged, q.r.more = s, true
	}
	return q
}

func (c *Comm) isendMode(op string, b []byte, peer, tag int, o options) Request {
	if o.mode != Sync && o.mode != Buffered && o.kind == nil {
		return c.isend(op, b, peer, tag)
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if o.mode != Buffered {
		r := w.get(c, op, peer, tag, b)
		w.startSend(r, c.peers[peer], c.context, o)
		return Request{r, r.gen}
	}
	if err := w.sendBuffered(c, op, b, peer, tag, o); err != nil {
		r := w.get(c, op, peer, tag, b)
		r.complete(err)
		return Request{r, r.gen}
	}
	return sent()
}

// recvArgs looks through the arguments of a receive.
func (c *Comm) recvArgs(b operand, peer, tag int, opts []Option) (view, error) {
	o, err := recvOptions(opts)
	if err == nil {
		err = c.checkFrom(peer, tag)
	}
	if err != nil {
		return view{}, err
	}
	return c.target(b, o.layout)
}

// target is a buffer that is to be written, seen through a layout.
func (c *Comm) target(b operand, l *Layout) (view, error) {
	kind, err := c.world.types.kind(b.elem, b.err)
	if err != nil {
		return view{}, err
	}
	v, err := l.target(b.b, b.elem.size)
	v.kind = kind
	return v, err
}

func (c *Comm) recvWith(ctx context.Context, op string, b operand, peer, tag int, opts []Option) (Status, error) {
	v, err := c.recvArgs(b, peer, tag, opts)
	if err != nil {
		return Status{}, c.fail(op, peer, tag, b.b, err)
	}
	return c.recvInto(ctx, op, &v, peer, tag)
}

func (c *Comm) irecvWith(op string, b operand, peer, tag int, opts []Option) Request {
	v, err := c.recvArgs(b, peer, tag, opts)
	if err != nil {
		return c.failed(op, peer, tag, b.b, err)
	}
	return c.irecvInto(op, &v, peer, tag)
}

func (m *Message) recvWith(ctx context.Context, b operand, opts []Option) (Status, error) {
	o, err := recvOptions(opts)
	var v view
	if err == nil {
		v, err = m.comm.target(b, o.layout)
	}
	if err != nil {
		return Status{}, m.comm.fail("RecvMessage", m.status.Source, m.status.Tag, b.b, err)
	}
	return m.recv(ctx, &v)
}

func (c *Comm) sendrecvWith(ctx context.Context, out operand, dest, sendTag int, in operand, source, recvTag int, opts []Option) (Status, error) {
	const op = "Sendrecv"
	from, o, err := c.sendArgs(out, dest, sendTag, opts, 2)
	if err != nil {
		return Status{}, c.fail(op, dest, sendTag, out.b, err)
	}
	if o.second == nil {
		o.second = o.layout
	}
	to, err := c.target(in, o.second)
	if err == nil {
		err = c.checkFrom(source, recvTag)
	}
	if err != nil {
		return Status{}, c.fail(op, source, recvTag, in.b, err)
	}
	if from.places == nil {
		return c.exchangeInto(ctx, op, from.buf, dest, sendTag, o, &to, source, recvTag)
	}
	return c.exchangePacked(ctx, op, &from, dest, sendTag, o, &to, source, recvTag)
}

func (c *Comm) replaceWith(ctx context.Context, b operand, dest, sendTag, source, recvTag int, opts []Option) (Status, error) {
	const op = "SendrecvReplace"
	from, o, err := c.sendArgs(b, dest, sendTag, opts, 1)
	var to view
	if err == nil {
		to, err = c.target(b, o.layout)
	}
	if err != nil {
		return Status{}, c.fail(op, dest, sendTag, b.b, err)
	}
	if err := c.checkFrom(source, recvTag); err != nil {
		return Status{}, c.fail(op, source, recvTag, b.b, err)
	}
	return c.exchangePacked(ctx, op, &from, dest, sendTag, o, &to, source, recvTag)
}

// exchangePacked sends a copy of what from shows.
func (c *Comm) exchangePacked(ctx context.Context, op string, from *view, dest, sendTag int, o options, to *view, source, recvTag int) (Status, error) {
	w := c.world
	s, err := w.pack(from)
	if err != nil {
		return Status{}, c.fail(op, dest, sendTag, nil, err)
	}
	status, err := c.exchangeInto(ctx, op, s.b, dest, sendTag, o, to, source, recvTag)
	w.eng.Lock()
	defer w.eng.Unlock()
	w.unpacked(s, err)
	return status, err
}

// exchangeInto is sendrecv into a view.
func (c *Comm) exchangeInto(ctx context.Context, op string, out []byte, dest, sendTag int, o options, to *view, source, recvTag int) (Status, error) {
	switch {
	case dest == ProcNull:
		return c.recvInto(ctx, op, to, source, recvTag)
	case source == ProcNull:
		return Status{Source: ProcNull, Tag: AnyTag}, c.sendMode(ctx, op, out, dest, sendTag, o)
	}
	return c.exchange(ctx, op, out, dest, sendTag, o, to, source, recvTag)
}
