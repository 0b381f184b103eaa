package comm

import (
	"context"

	"github.com/verbena-mpi/verbena/internal/match"
)

// uncancelled is for waits that can't be given up, because a peer or a device has
// the memory.
var uncancelled = context.Background()

// Recv receives a message from rank peer, or AnySource, with a tag, or AnyTag,
// into buf, and returns when it is there. The message may be shorter than buf; if
// it is longer, what fits is received and the error is ErrTruncated. The status
// says who sent it, and how much.
//
// If ctx ends first, its error is returned and nothing was received. A message
// that has been matched already is received in any case, unless its sender doesn't
// move: then it stays where it was, for another receive.
func Recv[T any](ctx context.Context, c *Comm, buf []T, peer, tag int, opts ...Option) (Status, error) {
	b, err := bytesOf(c.world, buf)
	if err != nil || len(opts) != 0 {
		return c.recvWith(ctx, "Recv", operand{b, elemOf[T](), err}, peer, tag, opts)
	}
	return c.recv(ctx, "Recv", c.context, b, peer, tag)
}

// Irecv starts a receive. The buffer must not be touched until the request is
// complete. A bad argument comes out of Wait.
func Irecv[T any](c *Comm, buf []T, peer, tag int, opts ...Option) Request {
	b, err := bytesOf(c.world, buf)
	if err != nil || len(opts) != 0 {
		return c.irecvWith("Irecv", operand{b, elemOf[T](), err}, peer, tag, opts)
	}
	return c.irecv("Irecv", b, peer, tag)
}

func (c *Comm) recv(ctx context.Context, op string, context uint32, b []byte, peer, tag int) (Status, error) {
	if err := c.checkFrom(peer, tag); err != nil {
		return Status{}, c.fail(op, peer, tag, b, err)
	}
	if peer == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, nil
	}
	w := c.world
	w.eng.Lock()
	r := w.get(c, op, peer, tag, b)
	w.startRecv(r, context)
	err := r.wait(ctx)
	if err != nil && !w.table.Remove(&r.recv) {
		err = w.conclude(r, err)
	}
	var status Status
	if err != nil {
		err = c.fail(op, peer, tag, b, err)
	} else {
		status, err = r.result()
	}
	if r.more {
		r.clear()
	}
	w.putPlain(r)
	w.eng.Unlock()
	return status, err
}

func (c *Comm) irecv(op string, b []byte, peer, tag int) Request {
	if err := c.checkFrom(peer, tag); err != nil {
		return c.failed(op, peer, tag, b, err)
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, op, peer, tag, b)
	if peer == ProcNull {
		r.status = Status{Source: ProcNull, Tag: AnyTag}
		r.complete(nil)
		return Request{r, r.gen}
	}
	w.startRecv(r, c.context)
	return Request{r, r.gen}
}

// startRecv takes an unexpected message, or posts the receive. The lock is held.
func (w *World) startRecv(r *request, context uint32) {
	if w.closed {
		r.complete(ErrClosed)
		return
	}
	source := r.peer
	var p *peer
	if source >= 0 {
		p = r.comm.peers[source]
		source = p.rank
	}
	key := match.Key{Context: context, Source: int32(source), Tag: int32(r.tag)}
	for u := w.table.Post(&r.recv, key); u != nil; u = w.table.Post(&r.recv, key) {
		if w.takeUnexpected(r, u) {
			return
		}
	}
	if p != nil && p.contacted && p.open != nil {
		return
	}
	w.expect(r)
}

// expect checks that a receive that was posted can still be answered.
func (w *World) expect(r *request) {
	if err := r.comm.reachable(r.peer, r.recv.Key().Context); err != nil {
		w.table.Remove(&r.recv)
		r.complete(err)
	}
}

// reachable says why nothing can come any more from a rank, or AnySource.
func (c *Comm) reachable(peer int, context uint32) error {
	if peer == AnySource {
		if err := c.unheard(); err != nil {
			return err
		}
		if c.size > 1 && c.alone() {
			return errAllFinished
		}
		return nil
	}
	p := c.peers[peer]
	switch {
	case p.ep == nil:
	case p.lost != nil:
		return p.lost
	case p.finished != nil && context != closeContext:
		return p.finished
	case !p.contacted:
		// So that its end is noticed.
		p.contacted = true
		p.ep.Contact()
	}
	return nil
}

// deliver copies a message into its receive's buffer and completes it. The source is a
// rank of the world.
func (w *World) deliver(r *request, source, tag int, body []byte) {
	n := copy(r.buf, body)
	r.status = Status{Source: r.comm.rankOf(source), Tag: tag, Bytes: int64(len(body))}
	if n < len(body) {
		w.deliverLonger(r, source, body)
		return
	}
	r.done = true // by hand what complete does
	if r.on != nil {
		w.eng.Done(r.on)
	}
}

// deliverLonger ends a receive with less room than its message: an error, or one that
// has no buffer: with a layout, or a matched probe, which keeps the message.
func (w *World) deliverLonger(r *request, source int, body []byte) {
	if r.into.places != nil {
		r.deliverSpread(body)
		return
	}
	if !r.claim {
		r.complete(ErrTruncated)
		return
	}
	r.claimed = w.keep(match.Key{Context: r.comm.context, Source: int32(source), Tag: int32(r.status.Tag)}, body)
	r.complete(nil)
}
