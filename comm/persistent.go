package comm

// Persistent is a send or a receive whose arguments are given once, and that is
// started again and again: MPI's persistent requests, made by [SendInit] and
// [RecvInit]. It holds nothing between a Wait and the next Start: one that isn't
// needed any more is simply dropped, whether or not it was ever started.
type Persistent struct {
	comm *Comm
	op   string // the call that made it
	view view
	peer int
	tag  int
	recv bool
	err  error // of the arguments

	options options // of a send

	last Request // that Start has returned; guarded by eng's lock
}

// SendInit makes a send of buf that can be started any number of times. Nothing is
// sent yet. What buf has when it is started is sent, and from then until its Wait buf
// must not be written. The options are those of [Isend]. A bad argument comes out of
// each Wait.
//
// It may be called concurrently.
func SendInit[T any](c *Comm, buf []T, peer, tag int, opts ...Option) *Persistent {
	b, err := bytesOf(c.world, buf)
	return c.sendInit(operand{b, elemOf[T](), err}, peer, tag, opts)
}

// RecvInit makes a receive into buf that can be started any number of times. Nothing is
// received yet. From its start until its Wait buf must not be touched. The options
// are those of [Irecv]. A bad argument comes out of each Wait.
//
// It may be called concurrently.
func RecvInit[T any](c *Comm, buf []T, peer, tag int, opts ...Option) *Persistent {
	b, err := bytesOf(c.world, buf)
	return c.recvInit(operand{b, elemOf[T](), err}, peer, tag, opts)
}

func (c *Comm) sendInit(b operand, peer, tag int, opts []Option) *Persistent {
	v, o, err := c.sendArgs(b, peer, tag, opts, 1)
	if err != nil {
		return c.notInit("SendInit", b.b, peer, tag, err)
	}
	return &Persistent{comm: c, op: "SendInit", view: v, peer: peer, tag: tag, options: o}
}

func (c *Comm) recvInit(b operand, peer, tag int, opts []Option) *Persistent {
	v, err := c.recvArgs(b, peer, tag, opts)
	if err != nil {
		return c.notInit("RecvInit", b.b, peer, tag, err)
	}
	return &Persistent{comm: c, op: "RecvInit", view: v, peer: peer, tag: tag, recv: true}
}

// notInit is what can't be started, because of an argument.
func (c *Comm) notInit(op string, b []byte, peer, tag int, err error) *Persistent {
	return &Persistent{comm: c, op: op, view: view{buf: b}, peer: peer, tag: tag, err: err}
}

// Start starts the operation once more. The request is like one of Isend or Irecv, and
// must be ended as such before the next Start: until then another one fails, with
// ErrActive, and changes nothing about the first. That error, as all others, comes
// out of Wait. Start allocates nothing, and may be called concurrently.
func (p *Persistent) Start() Request {
	c, w := p.comm, p.comm.world
	var s *scratch
	err := p.err
	if err == nil && !p.recv && p.view.places != nil && p.peer != ProcNull {
		s, err = w.pack(&p.view)
	}
	w.eng.Lock()
	defer w.eng.Unlock()
	r := w.get(c, p.op, p.peer, p.tag, p.view.buf)
	if s != nil {
		r.buf, r.staged, r.more = s.b, s, true
	}
	q := Request{r, r.gen}
	if p.last.started() {
		r.complete(ErrActive)
		return q
	}
	p.last = q
	switch {
	case c.size == 0:
		r.complete(ErrFreed)
	case err != nil:
		r.complete(err)
	case p.peer == ProcNull:
		r.status = Status{Source: ProcNull, Tag: AnyTag}
		r.complete(nil)
	case p.recv:
		r.buf = nil
		r.spread(&p.view)
		w.startRecv(r, c.context)
	default:
		w.startPersistent(r, p.options)
	}
	return q
}

// started says whether there is an operation that has not been ended. The lock is held.
func (q Request) started() bool { return q.r != nil && q.r.gen == q.gen }

// startPersistent starts a send. Unlike Isend's it has a request also when it is over
// at once: whether it was waited for must be known. The lock is held.
func (w *World) startPersistent(r *request, o options) {
	c := r.comm
	p := c.peers[r.peer]
	switch {
	case o.mode == Buffered:
		r.status = Status{r.peer, r.tag, int64(len(r.buf))}
		r.complete(w.sendBuffered(c, r.op, r.buf, r.peer, r.tag, o))
	case o.mode != Sync && p.open != nil && len(r.buf) <= w.limit && !w.closed && p.open.Send(c.context, int32(r.tag), r.buf):
		r.status = Status{r.peer, r.tag, int64(len(r.buf))}
		r.complete(nil)
	default:
		w.startSend(r, p, c.context, o)
	}
}

// StartAll starts all of them, in order, and appends their requests to requests, which
// it returns: for [WaitAll] and its kin. P is *Persistent or *Partitioned, or an
// interface that both are. If requests has room for them it allocates nothing.
//
//	requests = comm.StartAll(requests[:0], halo)
//	err := comm.WaitAll(ctx, requests...)
func StartAll[P interface{ Start() Request }](requests []Request, all []P) []Request {
	for _, p := range all {
		requests = append(requests, p.Start())
	}
	return requests
}
