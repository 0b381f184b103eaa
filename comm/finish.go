package comm

import (
	"math"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/match"
)

// A rank that is in Close says so to those that it has had to do with, and to those
// that turn to it from then on: what waits for it there is an error and not a hang.
// What it had sent is delivered before. It still takes part in the barrier of Close.
//
// It has no quotas any more: a sender that waited for credits would wait for a receive
// that won't come, and its own goodbye with it. What is sent before it hears of this
// is kept until the end of Close.

// bye says goodbye. The lock is held.
func (w *World) bye() {
	w.finishing, w.late = true, true
	for _, p := range w.peers {
		if p.ep != nil && (p.asked || p.contacted || p.seq != 0 || p.ep.Used()) {
			w.tell(p)
		}
		p.quota = math.MaxInt
		if p.ep != nil && p.lost == nil {
			p.ep.Hold(false)
		}
	}
}

// tell tells a peer that this rank is in Close, if it is.
func (w *World) tell(p *peer) {
	if !w.finishing || p.told || p.lost != nil {
		return
	}
	p.told = true
	o := new(eager.Outgoing)
	o.SetPlain(eager.Bye, 0)
	p.ep.Enqueue(o)
}

// finish takes a peer's goodbye.
func (w *World) finish(p *peer) {
	if p.finished != nil || p.lost != nil {
		return
	}
	p.finished = &PeerError{Rank: p.rank, Host: p.host, Cause: ErrFinished}
	p.open = nil
	w.living--
	w.failPosted(func(k match.Key) bool { return int(k.Source) == p.rank && k.Context != closeContext }, p.finished)
	w.failProbes(p, p.finished)
	p.via.rndv.Refused(&p.sends, p.ep, p.finished)
	w.refuseBuffered(p, p.finished)
	w.failAlone(p)
}

// failAlone ends the receives and probes from any source on the communicators of
// which p was the last other member.
func (w *World) failAlone(p *peer) {
	w.failAny(func(r *request) error {
		if r.comm.has(p) && r.comm.alone() {
			return errAllFinished
		}
		return nil
	})
}

// failAny ends the receives and probes from any source for which why has an error.
func (w *World) failAny(why func(*request) error) {
	for r := range w.table.Posted(func(k match.Key) bool { return k.Source == match.AnySource }) {
		if err := why(r); err != nil {
			w.table.Remove(&r.recv)
			r.complete(err)
		}
	}
	w.endProbes(func(r *request) bool {
		if r.peer != AnySource {
			return false
		}
		err := why(r)
		if err != nil {
			r.complete(err)
		}
		return err != nil
	})
}

// failPosted ends the receives with the keys that which chooses.
func (w *World) failPosted(which func(match.Key) bool, err error) {
	for r := range w.table.Posted(which) {
		w.table.Remove(&r.recv)
		r.complete(err)
	}
}
