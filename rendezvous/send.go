package rendezvous

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/verbs"
)

// Sends are the offers to one peer that are not finished, oldest first. A finish
// names its offer by its number; they mostly come in order.
type Sends struct {
	head, tail *Send
	offers     uint64 // so far
}

// Send is the sender's side of one message. It lives in the request.
type Send struct {
	Owner interface{ Offered(err error) } // told at the end

	mem        []byte // keeps the message alive until the end
	pin        runtime.Pinner
	mr         verbs.MR
	name       uint64 // among the offers to this peer
	offer      eager.Outgoing
	left       bool  // the offer has left: the peer may know of it
	asked      error // the peer was asked to let it go: with this it ends then
	next, prev *Send
}

// Errors that end a send.
var (
	ErrRefused = errors.New("rendezvous: the receiver could not read the message")
	ErrUnknown = errors.New("rendezvous: the peer finished what was not offered")
)

// Offer starts a send of mem. Its memory is the caller's again when the owner
// was told. A note, or nil, goes with the offer: eager.NoteSize bytes that don't change.
func (l *Layer) Offer(s *Send, to *Sends, ep *eager.Endpoint, context uint32, tag int32, mem, note []byte) error {
	length := uint64(len(mem))
	if length == 0 {
		mem = l.byte // no device registers nothing
	}
	mr, addr, err := l.register(mem, verbs.AccessRead)
	if err != nil {
		return fmt.Errorf("rendezvous: registering %d bytes: %w", length, err)
	}
	// The device reads by address: the memory must neither move nor go.
	s.pin.Pin(unsafe.SliceData(mem))
	to.offers++
	s.mem, s.mr, s.name, s.left, s.asked = mem, mr, to.offers, false, nil
	s.offer.Owner = s
	to.push(s)
	l.count.Offers++
	s.offer.SetControl(
		eager.Header{Kind: eager.Offer, Context: context, Tag: tag},
		eager.Extension{Length: length, Addr: addr, Key: mr.Key(), Name: s.name},
	)
	if note != nil {
		s.offer.SetNote(note)
	}
	ep.Enqueue(&s.offer)
	return nil
}

// Sent implements eager.Owner.
func (s *Send) Sent(ok bool) { s.left = ok }

// Withdraw takes an offer back, if it has not left this rank, or if its receiver has
// not begun to read and the device can tell. Then it returns true, and the owner is not
// told. Where the device can't tell the receiver is asked: if it has not matched the offer
// the owner is told why, in a while, and else of the end that it comes to.
func (l *Layer) Withdraw(s *Send, to *Sends, ep *eager.Endpoint, why error) bool {
	if !ep.Withdraw(&s.offer) {
		if _, can := s.mr.(verbs.Revoker); !can {
			s.ask(ep, why)
			return false
		}
		if !l.revoke(s) {
			return false
		}
		ep.Forgo()
		s.cancel(ep, 0)
	}
	to.remove(s)
	_ = l.quiet(s)
	l.count.Withdrawn++
	return true
}

// ask asks the receiver to let an offer go, once.
func (s *Send) ask(ep *eager.Endpoint, why error) {
	if s.left && s.asked == nil {
		s.asked = why
		s.cancel(ep, eager.FlagAsk)
	}
}

// cancel sends a Cancel. It isn't in s, which is its owner's again perhaps.
func (s *Send) cancel(ep *eager.Endpoint, flags uint8) {
	o := new(eager.Outgoing)
	o.SetControl(eager.Header{Kind: eager.Cancel, Flags: flags}, eager.Extension{Name: s.name})
	ep.Enqueue(o)
}

// Refused ends the sends to a peer that will not receive them. Those that it has
// begun to read go on.
func (l *Layer) Refused(to *Sends, ep *eager.Endpoint, err error) {
	for s := to.head; s != nil; {
		next := s.next
		if l.Withdraw(s, to, ep, err) {
			s.Owner.Offered(err)
		}
		s = next
	}
}

// revoke takes the right to read back, unless the receiver has taken it.
func (l *Layer) revoke(s *Send) bool {
	r, can := s.mr.(verbs.Revoker)
	if !can || !s.left || !r.Revoke() {
		return false
	}
	s.mr = nil
	return true
}

// Finished takes a Finish of a peer. A peer that names what it has not been
// offered is not believed: the offer's request would be used again while the
// offer waits to leave.
func (l *Layer) Finished(from *Sends, flags uint8, x eager.Extension) error {
	for s := from.head; s != nil; s = s.next {
		if s.name != x.Name || !s.left {
			continue
		}
		var err error
		switch {
		case flags&eager.FlagWithdrawn != 0:
			if s.asked == nil {
				return fmt.Errorf("%w: it withdraws offer %d", ErrUnknown, x.Name)
			}
			l.count.Withdrawn++
			err = s.asked
		case flags&eager.FlagFailed != 0:
			err = ErrRefused
		case flags&eager.FlagUnwanted != 0:
			err = ErrUnwanted
		}
		from.remove(s)
		l.end(s, err)
		return nil
	}
	return fmt.Errorf("%w: its offer %d", ErrUnknown, x.Name)
}

// Lost ends all sends to a peer that is gone.
func (l *Layer) Lost(to *Sends, err error) {
	for s := to.head; s != nil; s = to.head {
		to.remove(s)
		l.end(s, err)
	}
}

func (l *Layer) end(s *Send, err error) {
	if err != nil {
		forget(s.mr) // who has the key is not to be trusted with it
	}
	if e := l.quiet(s); err == nil {
		err = e
	}
	l.count.Finishes++
	s.asked = nil
	s.Owner.Offered(err)
}

// quiet takes back the right to read, or leaves it with the cache. When it returns,
// no device reads the memory for this message.
func (l *Layer) quiet(s *Send) (err error) {
	if s.mr != nil { // else it is revoked
		err = s.mr.Close()
	}
	s.pin.Unpin()
	s.mem, s.mr = nil, nil
	return err
}

func (l *Sends) push(s *Send) {
	s.prev, s.next = l.tail, nil
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.next = s
	}
	l.tail = s
}

func (l *Sends) remove(s *Send) {
	if s.prev == nil {
		l.head = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.tail = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.next, s.prev = nil, nil
}
