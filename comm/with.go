package comm

import "context"

// What the calls do that are given options. Each is called in a branch of its own,
// so that those without options pay for nothing but a look at how many there are.

func (c *Comm) sendWith(ctx context.Context, op string, b []byte, peer, tag int, opts []Option) error {
	o, err := sendOptions(opts)
	if err == nil {
		err = c.checkTo(peer, tag)
	}
	if err != nil {
		return c.fail(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return nil
	}
	switch o.mode {
	case Sync:
		c.world.eng.Lock()
		return c.sendSlow(ctx, op, c.context, b, peer, tag, Sync)
	case Buffered:
		if err := c.sendBuffered(op, b, peer, tag); err != nil {
			return c.fail(op, peer, tag, b, err)
		}
		return nil
	}
	return c.send(ctx, op, c.context, b, peer, tag)
}

func (c *Comm) isendWith(op string, b []byte, peer, tag int, opts []Option) Request {
	o, err := sendOptions(opts)
	if err == nil {
		err = c.checkTo(peer, tag)
	}
	if err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return sent()
	}
	switch o.mode {
	case Sync:
		w := c.world
		w.eng.Lock()
		defer w.eng.Unlock()
		r := w.get(c, op, peer, tag, b)
		w.startSend(r, c.peers[peer], c.context, Sync)
		return Request{r, r.gen}
	case Buffered:
		if err := c.sendBuffered(op, b, peer, tag); err != nil {
			return c.failed(op, peer, tag, b, err)
		}
		return sent()
	}
	return c.isend(op, b, peer, tag)
}

func (c *Comm) recvWith(ctx context.Context, op string, b []byte, peer, tag int, opts []Option) (Status, error) {
	if _, err := recvOptions(opts); err != nil {
		return Status{}, c.fail(op, peer, tag, b, err)
	}
	return c.recv(ctx, op, c.context, b, peer, tag)
}

func (c *Comm) irecvWith(op string, b []byte, peer, tag int, opts []Option) Request {
	if _, err := recvOptions(opts); err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	return c.irecv(op, b, peer, tag)
}

func (m *Message) recvWith(ctx context.Context, b []byte, opts []Option) (Status, error) {
	if _, err := recvOptions(opts); err != nil {
		return Status{}, m.comm.fail("RecvMessage", m.status.Source, m.status.Tag, b, err)
	}
	return m.recv(ctx, b)
}
