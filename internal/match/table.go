package match

// Table holds the posted receives and the unexpected messages of one
// process, for all of its communicators. R and M are the caller's request
// and message record. The zero Table is empty and ready. Its methods must not
// be called concurrently.
type Table[R, M any] struct {
	posted postedQueue
	unexp  unexpectedQueue[M]

	posts    Seq // receives queued so far
	arrivals Seq // messages arrived so far
}

// Seq is a message's place in the order of arrival, or a receive's in the
// order of posting.
type Seq uint64

// Post takes the earliest unexpected message that a receive with key k
// accepts out of the table and returns it, or queues r and returns nil.
func (t *Table[R, M]) Post(r *Recv[R], k Key) *M {
	if r.Queued() {
		panic("match: receive posted twice")
	}
	n := &r.node
	n.key, n.form = k, k.form()
	if t.unexp.n != 0 {
		if m := t.unexp.take(k, n.form); m != nil {
			return m
		}
	}
	t.posts++
	n.seq = t.posts
	t.posted.add(n)
	return nil
}

// Repost is Post for a receive whose match has been undone, because the message
// was withdrawn: it keeps its place among the receives.
func (t *Table[R, M]) Repost(r *Recv[R]) *M {
	if r.Queued() {
		panic("match: receive posted twice")
	}
	n := &r.node
	if t.unexp.n != 0 {
		if m := t.unexp.take(n.key, n.form); m != nil {
			return m
		}
	}
	t.posted.add(n)
	return nil
}

// Arrive gives the next place in the order of arrival to a message with key
// k, which must have no wildcard. It takes the earliest posted receive that
// accepts the message out of the table and returns it. If there is none it
// returns nil, and the caller must call [Table.AddUnexpected] before any other
// method.
//
// A caller that may later have to undo a match, as the receiver of an aborted
// rendezvous has, keeps the place in order to put the message back.
func (t *Table[R, M]) Arrive(k Key) (*R, Seq) {
	t.arrivals++
	return takePosted[R](&t.posted, k), t.arrivals
}

// Offer is Arrive for a message that has its place already, because it was
// matched and the match has been undone. If it returns nil the caller must
// call [Table.PutBack] before any other method.
func (t *Table[R, M]) Offer(k Key) *R {
	return takePosted[R](&t.posted, k)
}

// AddUnexpected queues a message that Arrive found no receive for, with the
// same key and the place that Arrive returned. It also puts back one that
// Arrive found a receive for, which has never been queued.
func (t *Table[R, M]) AddUnexpected(m *Msg[M], k Key, at Seq) {
	if m.Queued() {
		panic("match: message queued twice")
	}
	if k.form() != exact {
		panic("match: message with a wildcard")
	}
	m.node.key, m.node.seq = k, at
	t.unexp.insert(m)
}

// PutBack queues a message that has been queued before once more, in the place
// that it had, after its match has been undone and Offer has found no other
// receive for it.
func (t *Table[R, M]) PutBack(m *Msg[M]) {
	t.AddUnexpected(m, m.node.key, m.node.seq)
}

// Probe returns the earliest unexpected message that a receive with key k
// would take, or nil, and leaves it in the table. A matched probe passes it
// on to [Table.RemoveUnexpected].
func (t *Table[R, M]) Probe(k Key) *M {
	if t.unexp.n == 0 {
		return nil
	}
	n := *t.unexp.find(k, k.form())
	if n == nil {
		return nil
	}
	return recordOf[M](n.message())
}

// Remove withdraws a posted receive. It reports whether r was queued: false
// means that it has been matched, or was never posted.
func (t *Table[R, M]) Remove(r *Recv[R]) bool {
	if !r.Queued() {
		return false
	}
	t.posted.remove(&r.node)
	return true
}

// RemoveUnexpected takes an unexpected message out of the table and reports
// whether it was in it.
func (t *Table[R, M]) RemoveUnexpected(m *Msg[M]) bool {
	if !m.Queued() {
		return false
	}
	t.unexp.remove(m)
	return true
}

// NumPosted returns the number of posted receives.
func (t *Table[R, M]) NumPosted() int { return t.posted.n }

// NumUnexpected returns the number of unexpected messages.
func (t *Table[R, M]) NumUnexpected() int { return t.unexp.n }

// Wild returns how many forms of wildcards are in use, of which there are three:
// for each of them a message that waits takes [WildSize] more.
func (t *Table[R, M]) Wild() int { return t.unexp.wild }

// Trim gives back the memory that earlier bursts have left behind.
func (t *Table[R, M]) Trim() {
	t.posted.index.trim()
	t.unexp.index.trim()
}
