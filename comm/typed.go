package comm

import (
	"bytes"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/match"
)

// Where element types are compared (Config.CheckTypes, the same in all ranks), each
// message that is matched has a note of its sender's type: a whole message before its
// bytes, an offer behind its extension. No send takes the fast path then, since no
// peer is open, and the eager layer delivers to noted in place of the World; so where
// they aren't compared, nobody looks whether they are but what is off the fast path.

// typing is what a request has besides where types are compared.
type typing struct {
	kind     *kind  // nil: bytes
	note     []byte // of the offer that is read
	mismatch error  // why it is not
}

// setKind says of what type the buffer of a request is.
func (r *request) setKind(k *kind) {
	if k != nil {
		r.typing, r.more = &typing{kind: k}, true
	}
}

// note is what a message says of its type.
func (r *request) note() []byte {
	if r.typing == nil {
		return rawNote
	}
	return r.typing.kind.note
}

// noted is a whole message with its note.
func (r *request) noted() []byte {
	return append(bytes.Clone(r.note()), r.buf...)
}

// compare says whether a receive can take a message of n bytes with a note. An empty
// message has no element of a wrong type.
func (r *request) compare(source, tag int, note []byte, n int) error {
	if r.typing == nil || r.claim || n == 0 {
		return nil
	}
	k := r.typing.kind
	sum, name := noteSays(note)
	if k.raw || sum == 0 || sum == k.sum {
		return nil
	}
	return &mismatch{sent: name, received: k.name, source: r.comm.rankOf(source), tag: tag, bytes: n}
}

// deliverNoted is deliver of a message with a note: a receive of another type ends with
// an error, and the message with it.
func (w *World) deliverNoted(r *request, source, tag int, note, body []byte) {
	if err := r.compare(source, tag, note, len(body)); err != nil {
		r.status = Status{Source: r.comm.rankOf(source), Tag: tag, Bytes: int64(len(body))}
		r.complete(err)
		return
	}
	if w.types.checked && r.claim && len(body) != 0 {
		r.status = Status{Source: r.comm.rankOf(source), Tag: tag, Bytes: int64(len(body))}
		r.claimed = w.keepNoted(match.Key{Context: r.comm.context, Source: int32(source), Tag: int32(tag)}, body, note)
		r.complete(nil)
		return
	}
	w.deliver(r, source, tag, body)
}

// keepNoted is keep of a message with a note.
func (w *World) keepNoted(key match.Key, body, note []byte) *unexpected {
	w.unexpectedBytes += int64(len(body))
	w.count.Unexpected++
	u, d := w.newDetail(key)
	d.data = append(w.records.spare(len(body)), body...)
	d.note = bytes.Clone(note)
	return u
}

// compareOffer is compare for an offer that a receive is about to read. If the types
// differ it has room for nothing, and the error at its end.
func (r *request) compareOffer(u *unexpected, d *detail) {
	if r.typing == nil {
		return
	}
	r.typing.note = d.note
	r.typing.mismatch = r.compare(u.source(), u.tag(), d.note, int(d.offer.Length))
}

// refuses says why a receive doesn't take what is offered.
func (r *request) refuses() error {
	if r.typing == nil {
		return nil
	}
	return r.typing.mismatch
}

// noted is a World whose messages have notes. It implements eager.Upper.
type noted struct{ *World }

// Message implements eager.Upper.
func (w noted) Message(ep *eager.Endpoint, context uint32, tag int32, seq uint32, body []byte) {
	p := w.peers[ep.Peer]
	if len(body) < eager.NoteSize {
		w.distrust(p, errNote)
		return
	}
	note, body := body[:eager.NoteSize], body[eager.NoteSize:]
	if !p.follows(seq) {
		w.astray(p)
		return
	}
	key := match.Key{Context: context, Source: int32(p.rank), Tag: tag}
	r, at := w.table.Arrive(key)
	if r != nil {
		w.deliverNoted(r, p.rank, int(tag), note, body)
		return
	}
	u := w.keepNoted(key, body, note)
	w.charge(p, u)
	w.addUnexpected(u, key, at)
}
