package comm

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/match"
	"github.com/verbena-mpi/verbena/rendezvous"
	"github.com/verbena-mpi/verbena/verbs"
)

// peer is another rank, or this one.
type peer struct {
	rank      int
	host      string
	ep        *eager.Endpoint // nil for this rank itself
	open      *eager.Endpoint // the same while the program can send to it
	sends     rendezvous.Sends
	contacted bool
	near      bool       // it can share memory with this rank
	asked     bool       // it has made a contact
	told      bool       // that this rank is in Close
	seq       uint32     // of the last matched message from it
	quota     int        // bytes of it that may wait here
	account   account    // of what does
	end       error      // how it ended, as the launcher says; nil: it hasn't said so
	lost      *PeerError // why it is gone
	finished  *PeerError // it is in Close: nothing more of the program's comes from it
	via       *transport // that leads to it; nil for this rank itself
}

var errAllFinished = errors.New("all other ranks have finished")

func (p *peer) gone() error {
	if p.lost == nil {
		return ErrClosed
	}
	return p.lost
}

// Message implements eager.Upper.
func (w *World) Message(ep *eager.Endpoint, context uint32, tag int32, seq uint32, body []byte) {
	p := w.peers[ep.Peer]
	if !p.follows(seq) {
		w.astray(p)
		return
	}
	key := match.Key{Context: context, Source: int32(p.rank), Tag: tag}
	r, at := w.table.Arrive(key)
	if r != nil {
		w.deliver(r, p.rank, int(tag), body)
		return
	}
	u := w.keep(key, body)
	w.charge(p, u)
	w.addUnexpected(u, key, at)
}

// Arrived implements eager.Upper.
func (w *World) Arrived(ep *eager.Endpoint, h eager.Header, body []byte) {
	p := w.peers[ep.Peer]
	switch h.Kind {
	case eager.Credit: // it has made a contact, and waits for something
		p.asked = true
		w.tell(p)
		return
	case eager.Bye:
		w.finish(p)
		return
	}
	x := eager.ParseExtension(body)
	switch h.Kind {
	case eager.Cancel:
		w.canceled(p, h.Flags, x)
		return
	case eager.Finish:
		if err := p.via.rndv.Finished(&p.sends, h.Flags, x); err != nil && p.lost == nil {
			w.distrust(p, err)
		}
		return
	}
	if !p.follows(h.Seq) {
		w.astray(p)
		return
	}
	if (len(body) > eager.ExtensionSize) != w.types.checked {
		w.distrust(p, errNote)
		return
	}
	if x.Length > 1<<62 {
		w.distrust(p, errLength)
		return
	}
	key := match.Key{Context: h.Context, Source: int32(p.rank), Tag: h.Tag}
	u, d := w.newDetail(key)
	r, at := w.table.Arrive(key)
	d.from, d.offer, d.at = p, x, at
	if w.types.checked {
		d.note = bytes.Clone(body[eager.ExtensionSize:])
	}
	if r != nil {
		if !w.takeUnexpected(r, u) {
			w.again(r)
		}
		return
	}
	w.count.Unexpected++
	w.charge(p, u)
	w.addUnexpected(u, key, at)
}

// follows says whether a message is the next of its sender.
func (p *peer) follows(seq uint32) bool {
	if p.lost == nil && seq == p.seq+1 {
		p.seq = seq
		return true
	}
	return false
}

// astray takes a message that does not follow: nothing counts any more of a peer
// that breaks the protocol.
func (w *World) astray(p *peer) {
	if p.lost == nil {
		w.distrust(p, errOrder)
	}
}

var (
	errOrder  = errors.New("a message out of order")
	errLength = errors.New("a message of over 2⁶² bytes")
	errNote   = errors.New("a message that says something of its type, or doesn't, against the settings")
)

// Read implements eager.Upper.
func (w *World) Read(ep *eager.Endpoint, c *verbs.Completion) { w.peers[ep.Peer].via.rndv.Read(c) }

// Closed implements eager.Upper: a peer is gone, by its end or its death.
func (w *World) Closed(ep *eager.Endpoint, s verbs.Status) {
	cause := ErrDied
	switch s {
	case verbs.StatusPeerClosed:
		cause = ErrFinished
	case verbs.StatusRefused:
		cause = unreachable(ep.QP())
		if end := w.peers[ep.Peer].end; end != nil {
			cause = end
		}
	case verbs.StatusRetry:
		cause = ErrSilent
	case verbs.StatusCorrupt:
		cause = ErrProtocol
	}
	w.lose(w.peers[ep.Peer], cause)
}

// unreachable is ErrUnreachable, with the device's reason if it has one.
func unreachable(q verbs.QP) error {
	if e, ok := q.(verbs.Explainer); ok {
		if why := e.Why(); why != nil {
			return fmt.Errorf("%w: %w", ErrUnreachable, why)
		}
	}
	return ErrUnreachable
}

// distrust treats a peer that breaks the protocol as gone.
func (w *World) distrust(p *peer, err error) {
	w.log.WithField("peer", p.rank).Errorf("comm: protocol error: %v", err)
	p.ep.Fail() // which calls Closed
}

// lose ends what waits for a peer. A receive from any source hears of each death
// once; a rank that finished in good order doesn't fail it, unless nobody is left.
func (w *World) lose(p *peer, cause error) {
	if p.lost != nil {
		return
	}
	p.lost = &PeerError{Rank: p.rank, Host: p.host, Cause: cause}
	p.open = nil
	if p.finished == nil {
		w.living--
	}
	p.via.rndv.Lost(&p.sends, p.lost)
	w.failPosted(func(k match.Key) bool { return int(k.Source) == p.rank }, p.lost)
	w.failProbes(p, p.lost)
	if cause == ErrFinished {
		w.failAlone(p)
		return
	}
	w.die(p)
	w.failAny(func(r *request) error {
		if !r.comm.has(p) {
			return nil
		}
		r.comm.heard()
		return p.lost
	})
}
