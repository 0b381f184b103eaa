package eager

import (
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
)

// Endpoint is the way to one peer.
type Endpoint struct {
	Peer int // the upper layer's name for the peer

	layer  *Layer
	qp     verbs.QP
	num    uint32
	recv   *srq.Queue
	inline int // granted by the queue pair
	depth  int
	every  int    // one send in so many is signaled
	seq    uint32 // of the next matched message

	// Credits. A matched message needs one; what the protocols say among
	// themselves does not.
	credits int         // that this side holds
	account srq.Account // that the peer holds
	owes    bool        // the peer is to get some, if need be in a message of their own
	asked   int         // offers that are not finished: each finish will take a slot here
	kept    int         // slots that are reserved for them

	outstanding int // requests that no polled completion covers
	uncovered   int // the last of them, that no signaled one covers

	control outgoingList // what the send queue didn't take
	queue   outgoingList // the same, and what waits for credits
	waiting bool         // in the engine's list
	closed  bool
	status  verbs.Status // why, once closed

	// The request that is being posted. It lives here: a request on the stack
	// would be allocated, since it is passed through an interface.
	wr  [1]verbs.SendWR
	hdr [HeaderSize]byte
}

// Endpoint makes the queue pair to a peer. The connection is made at the first
// send, or by Contact.
func (l *Layer) Endpoint(peer int, address []byte, local, remote uint32, credits int) (*Endpoint, error) {
	recv, err := l.pool.Queue()
	if err != nil {
		return nil, err
	}
	qp, err := l.dev.NewQP(verbs.QPConfig{
		SendCQ: l.sendCQ, RecvCQ: l.recvCQ, RQ: recv.RQ(), Depth: l.cfg.Depth, Inline: l.cfg.Inline,
	})
	if err != nil {
		return nil, fmt.Errorf("eager: queue pair to rank %d: %w", peer, err)
	}
	if err := qp.Connect(address, local, remote); err != nil {
		return nil, fmt.Errorf("eager: connecting to rank %d: %w", peer, err)
	}
	if size := l.cfg.Recv.SlotSize; qp.Inline() < size {
		if err := l.bounce.open(l.dev, l.cfg.Bounce, size); err != nil {
			return nil, err
		}
	}
	ep := &Endpoint{
		Peer: peer, layer: l, qp: qp, num: qp.Num(), recv: recv,
		inline: qp.Inline(), depth: l.cfg.Depth, every: max(l.cfg.Depth/2, 1),
		credits: credits,
	}
	recv.Open(&ep.account, l.Credits())
	l.eps.add(ep)
	return ep, nil
}

// QP is the queue pair, for reads. A read that was posted must be told to Posted.
func (ep *Endpoint) QP() verbs.QP { return ep.qp }

// Inline is the inline size that the queue pair was granted.
func (ep *Endpoint) Inline() int { return ep.inline }

// Limit is the largest payload that Send takes.
func (ep *Endpoint) Limit() int { return ep.layer.cfg.Limit }

// Closed says whether, and why, the peer is gone.
func (ep *Endpoint) Closed() (verbs.Status, bool) { return ep.status, ep.closed }

// Sent is how many matched messages have left, so far.
func (ep *Endpoint) Sent() uint32 { return ep.seq }

// Used says whether a matched message was sent.
func (ep *Endpoint) Used() bool { return ep.seq != 0 || ep.queue.head != nil }

// Contact starts the connection, and lets the peer know that this side is interested
// in it: it answers if it is about to end.
func (ep *Endpoint) Contact() {
	_, _ = ep.qp.PostSend(nil)
	hello := new(Outgoing)
	hello.SetPlain(Credit, FlagHello)
	ep.Enqueue(hello)
}

// Send tries to send a whole message at once. If it returns true, data is the
// caller's again. If it returns false nothing was sent: Enqueue an Outgoing.
func (ep *Endpoint) Send(context uint32, tag int32, data []byte) bool {
	if ep.credits < 2 || ep.queue.head != nil || ep.account.Ebbs() {
		return ep.sendScarce(context, tag, data)
	}
	putData(&ep.hdr, 0, context, tag, ep.seq+1)
	hdr := ep.hdr[:]
	sent := false
	if HeaderSize+len(data) <= ep.inline && ep.outstanding < ep.depth {
		sent = ep.postInline(hdr, data, 0)
	} else {
		sent = ep.post(hdr, data, 0)
	}
	if sent {
		ep.seq++
		ep.credits--
	}
	return sent
}

// sendScarce is Send where credits are scarce, on one side or the other.
func (ep *Endpoint) sendScarce(context uint32, tag int32, data []byte) bool {
	if ep.queue.head != nil || ep.credits == 0 { // also when it is closed
		return false
	}
	var flags verbs.Flags
	if ep.credits == 1 {
		flags = verbs.FlagSolicited // for more
	}
	given := 0
	if ep.account.Ebbs() {
		given = ep.account.Grant(maxGrant)
	}
	putData(&ep.hdr, uint16(given), context, tag, ep.seq+1)
	if !ep.post(ep.hdr[:], data, flags) {
		ep.account.Back(given)
		return false
	}
	ep.seq++
	ep.credits--
	return true
}

// for it as far as is known. False: it has none.
func (ep *Endpoint) postInline(hdr, data []byte, flags verbs.Flags) bool {
	flags |= verbs.Inline
	ep.uncovered++
	if ep.uncovered >= ep.every {
		flags |= verbs.Signaled
	}
	wr := &ep.wr[0]
	wr.Op, wr.ID, wr.Flags, wr.Hdr, wr.Data = verbs.OpSend, uint64(ep.uncovered), flags, hdr, data
	n, err := ep.qp.PostSend(ep.wr[:])
	wr.Data = nil // the caller's
	if n == 0 {
		ep.uncovered--
		ep.refused(err)
		return false
	}
	ep.posted(flags)
	ep.layer.count.Inline++
	return true
}

// posted accounts for a request that was taken.
func (ep *Endpoint) posted(flags verbs.Flags) {
	ep.outstanding++
	if flags&verbs.Signaled != 0 {
		ep.uncovered = 0
		ep.layer.count.Signaled++
	}
}

// post gives one message to the queue pair. False: there was no room.
func (ep *Endpoint) post(hdr, data []byte, flags verbs.Flags) bool {
	if ep.outstanding >= ep.depth {
		ep.layer.eng.Drain(ep.layer.sendCQ)
		if ep.outstanding >= ep.depth {
			return false
		}
	}
	if len(hdr)+len(data) <= ep.inline {
		return ep.postInline(hdr, data, flags)
	}
	return ep.postBounced(hdr, data, flags)
}

// postBounced gives a message to the queue pair from a bounce buffer.
func (ep *Endpoint) postBounced(hdr, data []byte, flags verbs.Flags) bool {
	b := &ep.layer.bounce
	i, mem, ok := b.get()
	if !ok {
		ep.layer.eng.Drain(ep.layer.sendCQ)
		if i, mem, ok = b.get(); !ok {
			return false
		}
	}
	n := copy(mem, hdr)
	n += copy(mem[n:], data)
	ep.uncovered++
	flags |= verbs.Signaled // which gives the buffer back
	wr := &ep.wr[0]
	wr.Op, wr.ID, wr.Flags = verbs.OpSend, uint64(ep.uncovered)|uint64(i+1)<<32, flags
	wr.Hdr, wr.Data = nil, mem[:n]
	taken, err := ep.qp.PostSend(ep.wr[:])
	wr.Data = nil
	if taken == 0 {
		b.put(i)
		ep.uncovered--
		ep.refused(err)
		return false
	}
	ep.posted(flags)
	ep.layer.count.Bounced++
	return true
}

// refused looks at why a request was not taken.
func (ep *Endpoint) refused(err error) {
	if !errors.Is(err, verbs.ErrFull) {
		ep.broken(err)
	}
}

// broken notes an error that is not the peer's end, which arrives as OpClosed.
func (ep *Endpoint) broken(err error) {
	if !errors.Is(err, verbs.ErrState) && !errors.Is(err, verbs.ErrClosed) {
		panic(fmt.Sprintf("eager: the device refused a request that it must take: %v", err))
	}
}

// Fail ends the endpoint to a peer that breaks the protocol. The queue pair is
// closed, so that the peer hears of an end too.
func (ep *Endpoint) Fail() {
	if !ep.closed {
		_ = ep.qp.Close()
		ep.fail(verbs.StatusCorrupt)
	}
}

// fail ends the endpoint: the upper layer is told, and what waits refused. In
// this order: the owners ask the upper layer what has happened.
func (ep *Endpoint) fail(s verbs.Status) {
	if ep.closed {
		return
	}
	ep.closed, ep.status = true, s
	ep.closeCredits()
	ep.layer.upper.Closed(ep, s)
	for _, l := range []*outgoingList{&ep.control, &ep.queue} {
		for o := l.pop(); o != nil; o = l.pop() {
			if o.Owner != nil {
				o.Owner.Sent(false)
			}
		}
	}
}
