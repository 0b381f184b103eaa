package comm

import (
	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/match"
)

// unexpected is a message that came before its receive: its bytes, the offer of
// a rendezvous, or a send of this rank to itself. Records are pooled.
type unexpected struct {
	msg    match.Msg[unexpected]
	next   *unexpected
	source int // in the world
	tag    int
	data   []byte          // of a whole message: a copy of its size
	offer  eager.Extension // of a rendezvous
	from   *peer           // that offers it; nil for a whole message
	at     match.Seq       // the offer's place in the order of arrival
	self   *request        // a send to this rank itself that waits for its receive

	charged *peer // whose quota it is in
	charge  int
}

// recordSize is about what a message that waits takes besides its bytes.
const recordSize = 256

// quota is a peer's share of the memory for messages that wait: at least some
// messages' worth.
func quota(limit, peers int) int { return max(limit/max(peers, 1), 64<<10) }

// charge notes that a message of p waits. A peer that is over its quota gets no
// more credits until it has come down to half of it.
func (p *peer) charge(u *unexpected) {
	u.charged, u.charge = p, recordSize+cap(u.data)
	if p.waiting += u.charge; p.waiting > p.quota {
		p.ep.Hold(true)
	}
}

func (u *unexpected) discharge() {
	p := u.charged
	if p == nil {
		return
	}
	was := p.waiting
	p.waiting -= u.charge
	if half := p.quota / 2; p.lost == nil && was > half && p.waiting <= half {
		p.ep.Hold(false)
	}
	u.charged = nil
}

// keepMost is the largest buffer that stays with a record when it is pooled;
// spareMost is how many larger ones are kept besides.
const (
	keepMost  = 1 << 10
	spareMost = 16
)

func (w *World) getUnexpected(source, tag int) *unexpected {
	u := w.unexpected
	if u == nil {
		u = new(unexpected)
		u.msg.Bind(u)
	} else {
		w.unexpected = u.next
	}
	u.source, u.tag = source, tag
	return u
}

func (w *World) putUnexpected(u *unexpected) {
	u.discharge()
	w.unexpectedBytes -= int64(len(u.data))
	u.from, u.self = nil, nil
	if cap(u.data) > keepMost {
		if len(w.spares) < spareMost {
			w.spares = append(w.spares, u.data[:0])
		}
		u.data = nil
	}
	u.data = u.data[:0]
	u.next = w.unexpected
	w.unexpected = u
}

// addUnexpected queues a message that no receive waits for, and tells those that
// probe for it.
func (w *World) addUnexpected(u *unexpected, key match.Key, at match.Seq) {
	w.table.AddUnexpected(&u.msg, key, at)
	if len(w.probes) != 0 {
		w.tellProbes(u, key)
	}
	if w.late {
		w.addLate(u, key)
	}
}

// addLate looks again at a message that no receive waits for: this rank is in Close,
// or has freed communicators.
func (w *World) addLate(u *unexpected, key match.Key) {
	if w.finishing && u.charged != nil {
		w.tell(u.charged)
	}
	if w.isFreed(key.Context) {
		w.discard(u)
	}
}

// length is the message's.
func (u *unexpected) length() int64 {
	switch {
	case u.from != nil:
		return int64(u.offer.Length)
	case u.self != nil:
		return int64(len(u.self.buf))
	}
	return int64(len(u.data))
}

// status is the message's, on the communicator that it is for.
func (u *unexpected) status(c *Comm) Status {
	return Status{Source: c.rankOf(u.source), Tag: u.tag, Bytes: u.length()}
}

// keep copies a message that nobody has asked for yet.
func (w *World) keep(u *unexpected, body []byte) {
	if len(body) > cap(u.data) {
		w.borrow(u, len(body))
	}
	u.data = append(u.data[:0], body...)
	w.unexpectedBytes += int64(len(body))
	w.count.Unexpected++
}

// borrow gives the record a spare buffer for n bytes, if there is one that isn't
// far too large.
func (w *World) borrow(u *unexpected, n int) {
	for i, b := range w.spares {
		if cap(b) >= n && cap(b) <= 4*n {
			last := len(w.spares) - 1
			u.data = b
			w.spares[i], w.spares[last] = w.spares[last], nil
			w.spares = w.spares[:last]
			return
		}
	}
}

// takeUnexpected gives an unexpected message, which is out of the table, to the
// receive that it matches. It returns false if the message has been withdrawn: the
// receive is still to be matched.
func (w *World) takeUnexpected(r *request, u *unexpected) bool {
	if !w.take(u) {
		return false
	}
	if r.claim {
		r.claimed, r.status = u, u.status(r.comm)
		r.complete(nil)
		return true
	}
	w.giveUnexpected(r, u)
	return true
}

// take makes sure that its sender can't withdraw a message any more. If it returns
// false that has happened, and the record is gone.
func (w *World) take(u *unexpected) bool {
	if p := u.from; p != nil && p.lost == nil && !w.rndv.Take(p.ep, u.offer) {
		w.putUnexpected(u)
		return false
	}
	return true
}

// giveUnexpected gives a message that was taken to a receive.
func (w *World) giveUnexpected(r *request, u *unexpected) {
	switch {
	case u.from != nil:
		r.place = u.at
		w.pull(r, u.from, u.tag, u.offer)
	case u.self != nil:
		w.deliver(r, u.source, u.tag, u.self.buf)
		u.self.complete(nil)
	default:
		w.deliver(r, u.source, u.tag, u.data)
	}
	w.putUnexpected(u)
}

// again matches a receive whose message was withdrawn: it has its old place.
func (w *World) again(r *request) {
	for u := w.table.Repost(&r.recv); u != nil; u = w.table.Repost(&r.recv) {
		if w.takeUnexpected(r, u) {
			return
		}
	}
}

// canceled takes a peer's word that an offer is withdrawn. If it has been matched
// meanwhile, take has found that out.
func (w *World) canceled(p *peer, x eager.Extension) {
	for u := range w.table.Unexpected(func(k match.Key) bool { return int(k.Source) == p.rank }) {
		if u.from == p && u.offer.Name == x.Name {
			w.table.RemoveUnexpected(&u.msg)
			w.putUnexpected(u)
			return
		}
	}
}

// pull reads an offered message, which was taken, into its receive's buffer.
func (w *World) pull(r *request, p *peer, tag int, offer eager.Extension) {
	r.from = p
	r.status = Status{Source: r.comm.rankOf(p.rank), Tag: tag, Bytes: int64(offer.Length)}
	if p.lost != nil {
		r.complete(p.lost)
		return
	}
	w.rndv.Pull(&r.pull, w.eng, p.ep, offer, r.room(offer.Length))
}
