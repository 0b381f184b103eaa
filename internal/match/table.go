package match

// Table holds the posted receives and the unexpected messages of one
// process, for all of its communicators. R and M are the caller's request
// and message record. The zero Table is empty and ready. Its methods must not
// be called concurrently.
type Table[R, M any] struct {
	posted postedQueue[R]
	unexp  unexpectedQueue[M]

	posts    Seq // receives queued so far
	arrivals Seq // messages arrived so far
}

// Seq is a message's place in the order of arrival, or a receive's in the
// order of posting.
type Seq uint64

// Post takes the earliest unexpected message that a receive with key k
// accepts out of the table and returns it, or queues r and returns nil.
func (t *Table[R, M]) Post(r *Recv[R], k Key) *Msg[M] {
	if r.queued {
		panic("match: receive posted twice")
	}
	r.key, r.form = k, k.form()
	if t.unexp.n != 0 {
		if m := t.unexp.first(k, r.form); m != nil {
			t.unexp.unlink(m)
			return m
		}
	}
	t.posts++
	r.seq = t.posts
	t.posted.push(r)
	return nil
}

// Arrive gives the next place in the order of arrival to a message with key
// k, which must have no wildcard. It takes the earliest posted receive that
// accepts the message out of the table and returns it. If there is none it
// returns nil, and the caller must call [Table.AddUnexpected] before any other
// method.
//
// A caller that may later have to withdraw from a match, as the receiver of
// an aborted rendezvous has, keeps the place for [Table.PutBack].
func (t *Table[R, M]) Arrive(k Key) (*Recv[R], Seq) {
	t.arrivals++
	return t.posted.take(k), t.arrivals
}

// Offer is Arrive for a message that has its place already, because it was
// matched and the match has been undone. If it returns nil the caller must
// call [Table.PutBack] before any other method.
func (t *Table[R, M]) Offer(k Key) *Recv[R] {
	return t.posted.take(k)
}

// AddUnexpected queues a message that Arrive found no receive for, with the
// same key and the place that Arrive returned.
func (t *Table[R, M]) AddUnexpected(m *Msg[M], k Key, at Seq) {
	if m.queued {
		panic("match: message queued twice")
	}
	if k.form() != exact {
		panic("match: message with a wildcard")
	}
	m.key, m.seq = k, at
	t.unexp.insert(m)
}

// PutBack queues a message once more, with the key and in the place that it
// had, after its match has been undone and Offer has found no other receive
// for it. A message that Arrive matched at once is put back in the same way:
// AddUnexpected and PutBack differ only in where key and place come from.
func (t *Table[R, M]) PutBack(m *Msg[M]) {
	t.AddUnexpected(m, m.key, m.seq)
}

// Probe returns the earliest unexpected message that a receive with key k
// would take, or nil, and leaves it in the table. A matched probe passes it
// on to [Table.RemoveUnexpected].
func (t *Table[R, M]) Probe(k Key) *Msg[M] {
	if t.unexp.n == 0 {
		return nil
	}
	return t.unexp.first(k, k.form())
}

// Remove withdraws a posted receive. It reports whether r was queued: false
// means that it has been matched, or was never posted.
func (t *Table[R, M]) Remove(r *Recv[R]) bool {
	if !r.queued {
		return false
	}
	t.posted.unlink(r)
	return true
}

// RemoveUnexpected takes an unexpected message out of the table and reports
// whether it was in it.
func (t *Table[R, M]) RemoveUnexpected(m *Msg[M]) bool {
	if !m.queued {
		return false
	}
	t.unexp.unlink(m)
	return true
}

// NumPosted returns the number of posted receives.
func (t *Table[R, M]) NumPosted() int { return t.posted.n }

// NumUnexpected returns the number of unexpected messages.
func (t *Table[R, M]) NumUnexpected() int { return t.unexp.n }

// Trim gives back the memory that earlier bursts have left behind.
func (t *Table[R, M]) Trim() {
	t.posted.bins.trim()
	t.unexp.bins.trim()
}
