package comm

import "github.com/verbena-mpi/verbena/internal/match"

// sendSelf sends to this rank itself: matched and copied, without a device. A
// message up to the eager limit is kept if no receive waits for it, so that a
// blocking send to oneself returns. A longer one waits for its receive, and so does
// one in Sync mode.
func (w *World) sendSelf(s *request, context uint32) {
	key := match.Key{Context: context, Source: int32(w.rank), Tag: int32(s.tag)}
	r, at := w.table.Arrive(key)
	if r != nil {
		w.deliverNoted(r, w.rank, s.tag, s.note(), s.buf)
		s.complete(nil)
		return
	}
	if !s.offered {
		var u *unexpected
		if w.types.checked {
			u = w.keepNoted(key, s.buf, s.note())
		} else {
			u = w.keep(key, s.buf)
		}
		w.addUnexpected(u, key, at)
		s.complete(nil)
		return
	}
	u, d := w.newDetail(key)
	d.self = s
	w.addUnexpected(u, key, at)
}

// withdrawSelf takes back a send to this rank that waits for its receive.
func (w *World) withdrawSelf(s *request) bool {
	for u := range w.table.Unexpected(func(k match.Key) bool { return int(k.Source) == w.rank }) {
		if u.waiting() == s {
			w.table.RemoveUnexpected(&u.msg)
			w.putUnexpected(u)
			return true
		}
	}
	return false
}
