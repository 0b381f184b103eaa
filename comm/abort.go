package comm

import (
	"context"
	"errors"
	"time"

	"github.com/verbena-mpi/verbena/internal/match"
	"github.com/verbena-mpi/verbena/rendezvous"
)

// abortAfter is how long a receive whose context has ended goes on if it has matched:
// what is being read is mostly there before.
const abortAfter = 250 * time.Millisecond

// conclude ends a receive that has matched, and whose context has ended with cause:
// it completes (nil), or, if that takes long, is given up (cause), and its message
// has its old place. The lock is held.
func (w *World) conclude(r *request, cause error) error {
	short, cancel := context.WithTimeout(uncancelled, abortAfter)
	defer cancel()
	err := r.wait(short)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	r.from.via.rndv.Abort(&r.pull)
	if err := r.wait(uncancelled); err != nil {
		return err
	}
	if !errors.Is(r.err, rendezvous.ErrAborted) {
		return nil
	}
	return cause
}

// giveBack offers again what a receive that was given up had begun to read, unless its sender
// wants it back. It is called at the end of the read: there is no moment at which the
// message is nowhere, and its sender's question about it in vain.
func (w *World) giveBack(r *request) {
	p := r.from
	if p.lost != nil {
		return
	}
	if !r.pull.Wanted() {
		p.via.rndv.LetGo(p.ep, r.pull.Offered())
		return
	}
	key := match.Key{Context: r.recv.Key().Context, Source: int32(p.rank), Tag: int32(r.status.Tag)}
	u, d := w.newDetail(key)
	d.from, d.offer, d.at = p, r.pull.Offered(), r.place
	if w.types.checked {
		d.note = rawNote
		if r.typing != nil {
			d.note = r.typing.note
		}
	}
	if next := w.table.Offer(key); next != nil {
		if !w.takeUnexpected(next, u) {
			w.again(next)
		}
		return
	}
	w.charge(p, u)
	w.addUnexpected(u, key, r.place)
}
