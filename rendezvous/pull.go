package rendezvous

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/verbs"
)

// Pull is the receiver's side of one message. It lives in the request.
type Pull struct {
	Owner interface{ Pulled(err error) } // told at the end

	layer  *Layer
	eng    *progress.Engine
	ep     *eager.Endpoint
	offer  eager.Extension
	dst    []byte
	mr     verbs.MR // of dst, where reads need one
	pin    runtime.Pinner
	id     int
	wr     [1]verbs.SendWR
	finish eager.Outgoing
	status verbs.Status

	aborting bool
	asked    bool // the sender wants its offer back
}

// ErrRead is wrapped by what ends a pull whose read failed.
var ErrRead = errors.New("rendezvous: reading the message failed")

// Take must be called before Pull, when the offer is matched. If it returns false,
// the sender has withdrawn the offer, and it is as if it had never come. From then on
// until the Finish the sender can't.
func (l *Layer) Take(ep *eager.Endpoint, offer eager.Extension) bool {
	t, ok := ep.QP().(verbs.Taker)
	return !ok || t.Take(verbs.Remote{Addr: offer.Addr, Key: offer.Key})
}

// Pull reads the offered message into dst, as much of it as there is room for.
// dst is the caller's again when the owner was told.
func (l *Layer) Pull(p *Pull, eng *progress.Engine, ep *eager.Endpoint, offer eager.Extension, dst []byte) {
	p.layer, p.eng, p.ep, p.offer = l, eng, ep, offer
	p.dst = dst[:min(uint64(len(dst)), offer.Length)]
	p.status, p.aborting, p.asked = verbs.StatusOK, false, false
	l.count.Pulls++
	if len(p.dst) == 0 {
		p.over(verbs.StatusOK)
		return
	}
	// The device writes by address: the memory must neither move nor go.
	p.pin.Pin(unsafe.SliceData(p.dst))
	if len(l.free) == 0 {
		l.free = append(l.free, len(l.pulls))
		l.pulls = append(l.pulls, nil)
	}
	p.id = l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	l.pulls[p.id] = p
	l.needs(1)
	if l.cache != nil {
		var err error
		if p.mr, _, err = l.cache.acquire(p.dst, verbs.AccessLocal); err != nil {
			l.done(p, verbs.StatusDevice)
			return
		}
	}
	if !p.Flush() {
		eng.Later(p)
	} else {
		eng.Posted()
	}
}

// Flush posts the read. It implements progress.Flusher.
func (p *Pull) Flush() bool {
	if p.aborting {
		p.layer.done(p, verbs.StatusAborted)
		return true
	}
	p.wr[0] = verbs.SendWR{
		ID: uint64(p.id), Op: verbs.OpRead, Flags: verbs.Signaled, Data: p.dst,
		Remote: verbs.Remote{Addr: p.offer.Addr, Key: p.offer.Key},
	}
	n, err := p.ep.QP().PostSend(p.wr[:])
	switch {
	case n == 1:
		return true
	case errors.Is(err, verbs.ErrFull):
		return false
	}
	p.layer.done(p, verbs.StatusFlushed)
	return true
}

// Read takes the completion of a read.
func (l *Layer) Read(c *verbs.Completion) {
	if c.ID >= uint64(len(l.pulls)) || l.pulls[c.ID] == nil {
		return
	}
	l.done(l.pulls[c.ID], c.Status)
}

// Abandon ends the reads that no completion will end, since the device is closed
// and doesn't touch their memory any more. Nobody is told but their owners.
func (l *Layer) Abandon(err error) {
	for _, p := range l.pulls {
		if p != nil {
			p.pin.Unpin()
			p.Owner.Pulled(err)
		}
	}
	l.pulls, l.free = nil, nil
	if l.cache != nil {
		l.cache.close()
	}
}

func (l *Layer) done(p *Pull, s verbs.Status) {
	l.pulls[p.id] = nil
	l.free = append(l.free, p.id)
	l.needs(-1)
	if p.mr != nil {
		if s != verbs.StatusOK {
			forget(p.mr) // so that Close makes sure that nothing is written any more
		}
		_ = p.mr.Close()
		p.mr = nil
	}
	p.pin.Unpin()
	p.over(s)
}

// over tells the sender that its memory is its own again, and then the owner.
func (p *Pull) over(s verbs.Status) {
	p.dst, p.wr[0].Data = nil, nil
	p.status = s
	if p.aborting && s == verbs.StatusAborted {
		p.Owner.Pulled(ErrAborted)
		return
	}
	h := eager.Header{Kind: eager.Finish}
	if s != verbs.StatusOK {
		h.Flags = eager.FlagFailed
	}
	p.finish.SetControl(h, eager.Extension{Name: p.offer.Name})
	p.finish.Owner = p
	p.ep.Enqueue(&p.finish)
}

// Sent implements eager.Owner: the finish has left. Only now may the request,
// and the finish in it, be used again.
func (p *Pull) Sent(bool) {
	var err error
	if p.status != verbs.StatusOK {
		err = fmt.Errorf("%w: %v", ErrRead, p.status)
	}
	p.Owner.Pulled(err)
}
