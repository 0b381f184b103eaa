package eager

import "github.com/verbena-mpi/verbena/verbs"

// Outgoing is a message that may have to wait for the send queue. It lives in
// the request that it belongs to.
type Outgoing struct {
	Owner Owner // told when the message has left; may be nil

	next *Outgoing
	hdr  [HeaderSize + ExtensionSize]byte
	n    int // bytes of hdr
	data []byte

	matched   bool // numbered when it leaves: one that is withdrawn leaves no gap
	last      bool // a Bye, which follows all that is matched
	solicited bool
}

// Owner hears when a message has left (its data is the owner's again), or never
// will because the peer is gone.
type Owner interface{ Sent(ok bool) }

// SetData makes o a whole message.
func (o *Outgoing) SetData(context uint32, tag int32, data []byte) {
	h := Header{Kind: Data, Context: context, Tag: tag}
	h.put((*[HeaderSize]byte)(o.hdr[:]))
	o.n, o.data, o.solicited, o.matched = HeaderSize, data, false, true
}

// SetControl makes o an Offer, a Finish or a Cancel.
func (o *Outgoing) SetControl(h Header, x Extension) {
	h.put((*[HeaderSize]byte)(o.hdr[:]))
	x.put(o.hdr[HeaderSize:])
	o.n, o.data, o.solicited, o.matched = HeaderSize+ExtensionSize, nil, true, h.Kind == Offer
}

// SetNote adds a note of NoteSize bytes to an Offer. It is read until the offer has left.
func (o *Outgoing) SetNote(note []byte) {
	o.hdr[1] |= FlagNote
	o.data = note
}

// SetPlain makes o a message of nothing but a header: a Bye or a Credit.
func (o *Outgoing) SetPlain(k Kind, flags uint8) {
	h := Header{Kind: k, Flags: flags}
	h.put((*[HeaderSize]byte)(o.hdr[:]))
	o.n, o.data, o.solicited, o.matched, o.last = HeaderSize, nil, true, false, k == Bye
}

// Enqueue sends o, now or when there is room; o.Owner hears of it, within this
// call if at once.
func (ep *Endpoint) Enqueue(o *Outgoing) {
	if ep.closed {
		if o.Owner != nil {
			o.Owner.Sent(false)
		}
		return
	}
	list := ep.listOf(o)
	if list.head == nil && ep.try(o) {
		return
	}
	ep.layer.count.Queued++
	list.push(o)
	if o.matched && ep.credits == 0 {
		ep.layer.count.Starved++ // got calls later
		return
	}
	ep.later()
}

// listOf returns where o waits. What the protocols say among themselves passes
// what waits for credits: it may be what brings them. But a Bye doesn't: what was
// sent before it is received before it.
func (ep *Endpoint) listOf(o *Outgoing) *outgoingList {
	if o.matched || o.last {
		return &ep.queue
	}
	return &ep.control
}

// later has Flush called at each poll until it is done.
func (ep *Endpoint) later() {
	if !ep.waiting {
		ep.waiting = true
		ep.layer.eng.Later(ep)
	}
}

func (ep *Endpoint) try(o *Outgoing) bool {
	var flags verbs.Flags
	if o.solicited || o.matched && ep.credits == 1 {
		flags = verbs.FlagSolicited
	}
	offer := o.matched && o.n > HeaderSize
	if o.matched {
		if ep.credits == 0 {
			return false
		}
		if offer {
			ep.keep()
		}
		putSeq((*[HeaderSize]byte)(o.hdr[:]), ep.seq+1)
	}
	given := 0
	if ep.account.Ebbs() {
		given = ep.account.Grant(maxGrant)
	}
	putCredits((*[HeaderSize]byte)(o.hdr[:]), uint16(given))
	if !ep.post(o.hdr[:o.n], o.data, flags) {
		ep.account.Back(given)
		if offer {
			ep.unkeep()
		}
		return false
	}
	o.data = nil
	if offer {
		ep.asked++
	}
	if o.matched {
		ep.seq++
		ep.credits--
	}
	if o.Owner != nil {
		o.Owner.Sent(true)
	}
	return true
}

// Flush implements progress.Flusher.
func (ep *Endpoint) Flush() (done bool) {
	if !ep.flushList(&ep.control) || ep.owes && !ep.pay() {
		return false
	}
	if !ep.flushList(&ep.queue) && ep.credits != 0 {
		return false
	}
	// What was given while the queue was flushed, by owners that were told or for a
	// completion that was found, has not asked for another call: there is this one.
	if ep.control.head != nil || ep.owes {
		return false
	}
	ep.waiting = false
	return true
}

func (ep *Endpoint) flushList(l *outgoingList) (done bool) {
	for l.head != nil {
		o := l.head
		// Out of the list before it is sent: its owner may use it again.
		l.pop()
		if !ep.try(o) {
			if ep.closed {
				if o.Owner != nil {
					o.Owner.Sent(false)
				}
				continue
			}
			l.unpop(o)
			return false
		}
	}
	return true
}

// Withdraw takes o out of the queue, if it has not left.
func (ep *Endpoint) Withdraw(o *Outgoing) bool { return ep.listOf(o).remove(o) }

// outgoingList is a queue, linked through its elements.
type outgoingList struct{ head, tail *Outgoing }

func (l *outgoingList) push(o *Outgoing) {
	o.next = nil
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

func (l *outgoingList) pop() *Outgoing {
	o := l.head
	if o == nil {
		return nil
	}
	if l.head = o.next; l.head == nil {
		l.tail = nil
	}
	o.next = nil
	return o
}

func (l *outgoingList) unpop(o *Outgoing) {
	o.next = l.head
	l.head = o
	if l.tail == nil {
		l.tail = o
	}
}

func (l *outgoingList) remove(o *Outgoing) bool {
	var before *Outgoing
	for e := l.head; e != nil; before, e = e, e.next {
		if e != o {
			continue
		}
		if before == nil {
			l.head = e.next
		} else {
			before.next = e.next
		}
		if l.tail == e {
			l.tail = before
		}
		e.next, e.data = nil, nil
		return true
	}
	return false
}
