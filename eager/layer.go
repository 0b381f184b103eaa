package eager

import (
	"fmt"

	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
)

// Upper is what the layer delivers to. Its methods run with the engine's lock
// held, must not block, and must not keep body.
type Upper interface {
	// Message delivers a whole message of a peer.
	Message(ep *Endpoint, context uint32, tag int32, seq uint32, body []byte)
	// Arrived delivers what is no whole message: an Offer, a Finish, a Cancel, a
	// Bye, or the Credit with FlagHello that Contact sends.
	Arrived(ep *Endpoint, h Header, body []byte)
	// Read delivers the completion of a read that was posted on ep's queue pair.
	Read(ep *Endpoint, c *verbs.Completion)
	// Closed says that the peer is gone; nothing of it follows.
	Closed(ep *Endpoint, s verbs.Status)
}

// Config is the layer's. All fields are set.
type Config struct {
	Inline int // bytes to ask of a queue pair, header included
	Limit  int // the largest payload that travels eagerly
	Depth  int // of a send queue
	Bounce int // buffers for what doesn't go inline
	Recv   srq.Config
}

// Layer is the eager protocol over one device.
type Layer struct {
	eng    *progress.Engine
	dev    verbs.Device
	cfg    Config
	upper  Upper
	pool   *srq.Pool
	sendCQ verbs.CQ
	recvCQ verbs.CQ
	bounce bounce
	eps    table
	count  Counters

	slotless bool // control messages take no slots
}

// Counters count messages by the way they went.
type Counters struct {
	Inline    uint64
	Bounced   uint64
	Queued    uint64 // found the send queue full, or no credit, and waited
	Starved   uint64 // of these, those that found no credit
	Credits   uint64 // messages with nothing but credits
	Signaled  uint64
	Malformed uint64
}

// New makes the layer's queues on dev and has eng poll them.
func New(eng *progress.Engine, dev verbs.Device, c Config, upper Upper) (*Layer, error) {
	// Control messages must fit too, however small the limit.
	c.Recv.SlotSize = HeaderSize + max(c.Limit, ExtensionSize+NoteSize)
	l := &Layer{eng: eng, dev: dev, cfg: c, upper: upper, slotless: dev.Attr().InlineRecv >= HeaderSize+ExtensionSize}
	if most := dev.Attr().MaxSend; c.Recv.SlotSize > most {
		return nil, fmt.Errorf("eager: an eager limit of %d bytes: device %s sends at most %d with the header of %d",
			c.Limit, dev.Attr().Name, most, HeaderSize)
	}
	var err error
	if l.pool, err = srq.New(dev, c.Recv); err != nil {
		return nil, err
	}
	if l.sendCQ, err = dev.NewCQ(1 << 16); err != nil {
		return nil, fmt.Errorf("eager: %w", err)
	}
	if l.recvCQ, err = dev.NewCQ(1 << 16); err != nil {
		return nil, fmt.Errorf("eager: %w", err)
	}
	slow := dev.Attr().SlowLook
	eng.AddRecv(l.recvCQ, slow, l.receiver())
	eng.AddSend(l.sendCQ, slow, l.completed)
	return l, nil
}

// NeedSends changes by n the number of those who wait for completions of requests that
// they have posted on an endpoint's queue pair.
func (l *Layer) NeedSends(n int) { l.eng.NeedSends(l.sendCQ, n) }

// Counters returns a copy.
func (l *Layer) Counters() Counters { return l.count }

// Pool is the layer's receive slots.
func (l *Layer) Pool() *srq.Pool { return l.pool }

// receiver returns what takes a completion of the receive CQ. It is a closure: the
// value of a method would be one more call on the way of each message.
func (l *Layer) receiver() progress.Handler {
	return func(c *verbs.Completion) {
		ep := l.eps.find(c.QP)
		if ep == nil {
			return // of a queue pair that was closed meanwhile
		}
		switch c.Op {
		case verbs.OpRecv:
			took := c.Slot != verbs.NoSlot
			if credits, context, tag, seq, ok := parseData(c.Data); ok && ep.account.Used(took) {
				if credits != 0 {
					ep.got(credits)
				}
				l.upper.Message(ep, context, tag, seq, c.Data[HeaderSize:])
				if ep.account.Low() {
					ep.owe()
				}
			} else {
				l.other(ep, c.Data, took, ok)
			}
			if took {
				ep.recv.Release(c.Slot)
			}
		case verbs.OpLow:
			ep.recv.Low()
		case verbs.OpClosed:
			ep.fail(c.Status)
		}
	}
}

// other takes what is not a whole message, or, starved, one for which the peer had no
// credit. Nothing follows the end of a peer, not even what came in the same poll.
func (l *Layer) other(ep *Endpoint, b []byte, took, starved bool) {
	h, body, err := Parse(b)
	switch {
	case starved: // and counted
		err = errStarved
	case err == nil && h.Kind == Offer:
		if !ep.account.Used(took) {
			err = errStarved
		}
	case took:
		ep.account.Took()
	}
	if ep.closed {
		return
	}
	l.eng.Useful()
	if err != nil {
		l.count.Malformed++
		ep.Fail()
		return
	}
	ep.got(int(h.Credits))
	switch h.Kind {
	case Credit:
		if h.Flags&FlagHello != 0 {
			l.upper.Arrived(ep, h, body)
		}
	case Finish:
		ep.Forgo()
		l.upper.Arrived(ep, h, body)
	case Cancel, Bye:
		l.upper.Arrived(ep, h, body)
	default:
		l.upper.Arrived(ep, h, body)
		if ep.account.Low() {
			ep.owe()
		}
	}
}

// completed takes a completion of the send CQ.
func (l *Layer) completed(c *verbs.Completion) {
	ep := l.eps.find(c.QP)
	if c.Op == verbs.OpRead {
		l.eng.Useful()
		l.upper.Read(ep, c)
		return
	}
	// The ID tells how many requests it covers, and which bounce buffer is free.
	if b := uint32(c.ID >> 32); b != 0 {
		l.bounce.put(b - 1)
	}
	if ep != nil {
		ep.outstanding -= int(uint32(c.ID))
	}
}
