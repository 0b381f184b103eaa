package comm

import "context"

// What the calls do that are given options. Each is called in a branch of its own,
// so that those without options pay for nothing but a look at how many there are.

// The buffers are given as bytes; size is the bytes of an element, for layouts.

func (c *Comm) sendWith(ctx context.Context, op string, b []byte, size, peer, tag int, opts []Option) error {
	o, err := sendOptions(opts, 1)
	if err == nil {
		err = c.checkTo(peer, tag)
	}
	var v view
	if err == nil {
		v, err = o.layout.view(b, size)
	}
	if err != nil {
		return c.fail(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return nil
	}
	if v.places == nil {
		return c.sendMode(ctx, op, v.buf, peer, tag, o.mode)
	}
	s, err := c.world.pack(&v)
	if err != nil {
		return c.fail(op, peer, tag, b, err)
	}
	err = c.sendMode(ctx, op, s.b, peer, tag, o.mode)
	c.world.eng.Lock()
	defer c.world.eng.Unlock()
	c.world.unpacked(s, err)
	return err
}

func (c *Comm) sendMode(ctx context.Context, op string, b []byte, peer, tag int, mode Mode) error {
	switch mode {
	case Sync:
		c.world.eng.Lock()
		return c.sendSlow(ctx, op, c.context, b, peer, tag, Sync)
	case Buffered:
		w := c.world
		w.eng.Lock()
		defer w.eng.Unlock()
		if err := w.sendBuffered(c, op, b, peer, tag); err != nil {
			return c.fail(op, peer, tag, b, err)
		}
		return nil
	}
	return c.send(ctx, op, c.context, b, peer, tag)
}

func (c *Comm) isendWith(op string, b []byte, size, peer, tag int, opts []Option) Request {
	o, err := sendOptions(opts, 1)
	if err == nil {
		err = c.checkTo(peer, tag)
	}
	var v view
	if err == nil {
		v, err = o.layout.view(b, size)
	}
	if err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return sent()
	}
	if v.places == nil {
		return c.isendMode(op, v.buf, peer, tag, o.mode)
	}
	s, err := c.world.pack(&v)
	if err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	q := c.isendMode(op, s.b, peer, tag, o.mode)
	c.world.eng.Lock()
	defer c.world.eng.Unlock()
	if q.r == nil { // it has left
		c.world.unpacked(s, nil)
	} else {
		q.r.staged, q.r.more = s, true
	}
	return q
}

func (c *Comm) isendMode(op string, b []byte, peer, tag int, mode Mode) Request {
	if mode != Sync && mode != Buffered {
		return c.isend(op, b, peer, tag)
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if mode == Sync {
		r := w.get(c, op, peer, tag, b)
		w.startSend(r, c.peers[peer], c.context, Sync)
		return Request{r, r.gen}
	}
	if err := w.sendBuffered(c, op, b, peer, tag); err != nil {
		r := w.get(c, op, peer, tag, b)
		r.complete(err)
		return Request{r, r.gen}
	}
	return sent()
}

// recvView looks through the options of a receive.
func (c *Comm) recvView(b []byte, size, peer, tag int, opts []Option) (view, error) {
	o, err := recvOptions(opts)
	if err == nil {
		err = c.checkFrom(peer, tag)
	}
	if err != nil {
		return view{}, err
	}
	return o.layout.target(b, size)
}

func (c *Comm) recvWith(ctx context.Context, op string, b []byte, size, peer, tag int, opts []Option) (Status, error) {
	v, err := c.recvView(b, size, peer, tag, opts)
	if err != nil {
		return Status{}, c.fail(op, peer, tag, b, err)
	}
	return c.recvInto(ctx, op, &v, peer, tag)
}

func (c *Comm) irecvWith(op string, b []byte, size, peer, tag int, opts []Option) Request {
	v, err := c.recvView(b, size, peer, tag, opts)
	if err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	return c.irecvInto(op, &v, peer, tag)
}

func (m *Message) recvWith(ctx context.Context, b []byte, size int, opts []Option) (Status, error) {
	o, err := recvOptions(opts)
	var v view
	if err == nil {
		v, err = o.layout.target(b, size)
	}
	if err != nil {
		return Status{}, m.comm.fail("RecvMessage", m.status.Source, m.status.Tag, b, err)
	}
	return m.recv(ctx, &v)
}

func (c *Comm) sendrecvWith(ctx context.Context, out []byte, outSize, dest, sendTag int, in []byte, inSize, source, recvTag int, opts []Option) (Status, error) {
	const op = "Sendrecv"
	o, err := sendOptions(opts, 2)
	if o.second == nil {
		o.second = o.layout
	}
	var from, to view
	if err == nil {
		from, err = o.layout.view(out, outSize)
	}
	if err == nil {
		err = c.checkTo(dest, sendTag)
	}
	if err != nil {
		return Status{}, c.fail(op, dest, sendTag, out, err)
	}
	if to, err = o.second.target(in, inSize); err == nil {
		err = c.checkFrom(source, recvTag)
	}
	if err != nil {
		return Status{}, c.fail(op, source, recvTag, in, err)
	}
	if from.places == nil {
		return c.exchangeInto(ctx, op, from.buf, dest, sendTag, o.mode, &to, source, recvTag)
	}
	return c.exchangePacked(ctx, op, &from, dest, sendTag, o.mode, &to, source, recvTag)
}

func (c *Comm) replaceWith(ctx context.Context, b []byte, size, dest, sendTag, source, recvTag int, opts []Option) (Status, error) {
	const op = "SendrecvReplace"
	o, err := sendOptions(opts, 1)
	if err == nil {
		err = c.checkTo(dest, sendTag)
	}
	var v view
	if err == nil {
		v, err = o.layout.target(b, size)
	}
	if err != nil {
		return Status{}, c.fail(op, dest, sendTag, b, err)
	}
	if err := c.checkFrom(source, recvTag); err != nil {
		return Status{}, c.fail(op, source, recvTag, b, err)
	}
	return c.exchangePacked(ctx, op, &v, dest, sendTag, o.mode, &v, source, recvTag)
}

// exchangePacked sends a copy of what from shows.
func (c *Comm) exchangePacked(ctx context.Context, op string, from *view, dest, sendTag int, mode Mode, to *view, source, recvTag int) (Status, error) {
	w := c.world
	s, err := w.pack(from)
	if err != nil {
		return Status{}, c.fail(op, dest, sendTag, nil, err)
	}
	status, err := c.exchangeInto(ctx, op, s.b, dest, sendTag, mode, to, source, recvTag)
	w.eng.Lock()
	defer w.eng.Unlock()
	w.unpacked(s, err)
	return status, err
}

// exchangeInto is sendrecv into a view.
func (c *Comm) exchangeInto(ctx context.Context, op string, out []byte, dest, sendTag int, mode Mode, to *view, source, recvTag int) (Status, error) {
	switch {
	case dest == ProcNull:
		return c.recvInto(ctx, op, to, source, recvTag)
	case source == ProcNull:
		return Status{Source: ProcNull, Tag: AnyTag}, c.sendMode(ctx, op, out, dest, sendTag, mode)
	}
	return c.exchange(ctx, op, out, dest, sendTag, mode, to, source, recvTag)
}
