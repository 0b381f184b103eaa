package comm

import (
	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/match"
)

// unexpected is a message that came before its receive. Its key says whose it is,
// its label what lies behind it in memory (see record): its bytes, if they are few,
// or else a detail.
type unexpected struct {
	msg match.Msg[unexpected]
}

// detail is what is known of a message that is no short one: exactly one of data,
// from and self is set.
type detail struct {
	data  []byte          // of a whole message that was copied
	from  *peer           // that offers it: it is to be read
	offer eager.Extension // by these words
	at    match.Seq       // the offer's place in the order of arrival
	self  *request        // a send to this rank itself that waits for its receive
	note  []byte          // see noted
}

// source is a rank of the world.
func (u *unexpected) source() int { return int(u.msg.Key().Source) }

func (u *unexpected) tag() int { return int(u.msg.Key().Tag) }

// offered is the detail of an offer, or nil.
func (u *unexpected) offered() *detail {
	if d := u.detail(); d != nil && d.from != nil {
		return d
	}
	return nil
}

// waiting is the send to this rank itself that waits for its receive, or nil.
func (u *unexpected) waiting() *request {
	if d := u.detail(); d != nil {
		return d.self
	}
	return nil
}

// length is the message's.
func (u *unexpected) length() int64 {
	d := u.detail()
	switch {
	case d == nil:
		return int64(len(u.short()))
	case d.from != nil:
		return int64(d.offer.Length)
	case d.self != nil:
		return int64(len(d.self.buf))
	}
	return int64(len(d.data))
}

// status is the message's, on the communicator that it is for.
func (u *unexpected) status(c *Comm) Status {
	return Status{Source: c.rankOf(u.source()), Tag: u.tag(), Bytes: u.length()}
}

// keep copies a message that nobody has asked for yet.
func (w *World) keep(key match.Key, body []byte) *unexpected {
	w.unexpectedBytes += int64(len(body))
	w.count.Unexpected++
	if len(body) <= mostBehind {
		u := w.records.get(kindFor(len(body)), key)
		u.setShort(body)
		return u
	}
	u, d := w.newDetail(key)
	d.data = append(w.records.spare(len(body)), body...)
	return u
}

// newDetail is a message of which something else is known than its bytes.
func (w *World) newDetail(key match.Key) (*unexpected, *detail) {
	u := w.records.get(detailed, key)
	return u, u.detail()
}

// putUnexpected ends a message's record.
func (w *World) putUnexpected(u *unexpected) {
	w.discharge(u)
	if d := u.detail(); d != nil {
		w.unexpectedBytes -= int64(len(d.data))
		w.records.keepSpare(d.data)
		*d = detail{}
	} else {
		w.unexpectedBytes -= int64(len(u.short()))
	}
	w.records.put(u)
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
	if w.finishing && u.charged() {
		w.tell(w.peers[u.source()])
	}
	if w.isFreed(key.Context) {
		w.discard(u)
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
	if d := u.offered(); d != nil && d.from.lost == nil && !d.from.via.rndv.Take(d.from.ep, d.offer) {
		w.putUnexpected(u)
		return false
	}
	return true
}

// giveUnexpected gives a message that was taken to a receive.
func (w *World) giveUnexpected(r *request, u *unexpected) {
	d := u.detail()
	switch {
	case d == nil:
		w.deliver(r, u.source(), u.tag(), u.short())
	case d.from != nil:
		r.place = d.at
		r.compareOffer(u, d)
		w.pull(r, d.from, u.tag(), d.offer)
	case d.self != nil:
		w.deliverNoted(r, u.source(), u.tag(), d.self.note(), d.self.buf)
		d.self.complete(nil)
	case d.note != nil:
		w.deliverNoted(r, u.source(), u.tag(), d.note, d.data)
	default:
		w.deliver(r, u.source(), u.tag(), d.data)
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

// canceled takes a peer's word that an offer is withdrawn, or its wish to withdraw it. If
// it has been matched meanwhile, take has found that out, or the peer hears of the end.
func (w *World) canceled(p *peer, flags uint8, x eager.Extension) {
	for u := range w.table.Unexpected(func(k match.Key) bool { return int(k.Source) == p.rank }) {
		if d := u.offered(); d != nil && d.from == p && d.offer.Name == x.Name {
			w.table.RemoveUnexpected(&u.msg)
			w.putUnexpected(u)
			if flags&eager.FlagAsk != 0 {
				p.via.rndv.LetGo(p.ep, x)
			}
			return
		}
	}
	if flags&eager.FlagAsk != 0 {
		p.via.rndv.Asked(p.ep, x)
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
	p.via.rndv.Pull(&r.pull, w.eng, p.ep, offer, r.room(offer.Length))
}
