package comm

import "context"

// A receive into a view with a layout has no buffer in its request: whatever comes for
// it is longer than that, and takes the way of messages that are (deliverLonger). An
// eager message is unpacked from where it lies; an offered one is read into staging
// memory, and unpacked when the read is complete, before the request is.

// spread makes r, which is new, a receive into a view. The lock is held.
func (r *request) spread(v *view) {
	r.setKind(v.kind)
	if v.places == nil {
		r.buf = v.buf
		return
	}
	r.into, r.more = *v, true
}

// recvInto is recv into a view.
func (c *Comm) recvInto(ctx context.Context, op string, v *view, peer, tag int) (Status, error) {
	if v.places == nil && v.kind == nil {
		return c.recv(ctx, op, c.context, v.buf, peer, tag)
	}
	if peer == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, nil
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, peer, tag, nil)
	defer w.put(r)
	r.spread(v)
	w.startRecv(r, c.context)
	err := r.wait(ctx)
	if err != nil && !w.table.Remove(&r.recv) {
		err = w.conclude(r, err)
	}
	if err != nil {
		return Status{}, r.fail(err)
	}
	return r.result()
}

// irecvInto is irecv into a view.
func (c *Comm) irecvInto(op string, v *view, peer, tag int) Request {
	if v.places == nil && v.kind == nil || peer == ProcNull {
		return c.irecv(op, v.buf, peer, tag)
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, peer, tag, nil)
	r.spread(v)
	w.startRecv(r, c.context)
	return Request{r, r.gen}
}

// deliverSpread unpacks a whole message, as much as there are places for.
func (r *request) deliverSpread(body []byte) {
	r.into.unpack(body)
	var err error
	if len(body) > r.into.length {
		err = ErrTruncated
	}
	r.complete(err)
}

// room is where a device reads a message of n bytes to, as much as there is room for.
// The lock is held.
func (r *request) room(n uint64) []byte {
	if r.refuses() != nil {
		return nil
	}
	if r.into.places == nil {
		return r.buf
	}
	if n = min(n, uint64(r.into.length)); n == 0 {
		return nil
	}
	r.staged = r.world.stage(int(n))
	return r.staged.b
}

// pulled puts what was read into its places.
func (r *request) pulled() {
	if r.into.places != nil && r.staged != nil {
		r.into.unpack(r.staged.b)
	}
}

// bytes is the length of the operation's buffer: of the message that fits.
func (r *request) bytes() int64 {
	if r.into.places != nil {
		return int64(r.into.length)
	}
	return int64(len(r.buf))
}
