package match

// Msg is an unexpected message's place in a Table. Embed it in the message
// record and point Val back at the record. The table owns it from
// AddUnexpected or PutBack until Post or RemoveUnexpected takes it out.
type Msg[M any] struct {
	Val *M

	key    Key
	queued bool
	seq    Seq
	links  [numForms]links[M] // by form of the receives that look there
}

type links[M any] struct {
	next, prev *Msg[M]
}

// Key returns the key that m was last queued with.
func (m *Msg[M]) Key() Key { return m.key }

// Seq returns the place in the order of arrival that m was last queued with.
func (m *Msg[M]) Seq() Seq { return m.seq }

// Queued reports whether m is in a table.
func (m *Msg[M]) Queued() bool { return m.queued }

// unexpectedQueue holds every message once in the bin of its own key, and
// once for each indexed wildcard form in the bin of the key of that form that
// accepts it. Bins are ordered by arrival.
type unexpectedQueue[M any] struct {
	bins    bins[Msg[M]]
	n       int            // messages queued
	indexed [numForms]bool // wildcard forms in use; exact is always indexed
}

// first returns the earliest message that a receive with key k, of form f,
// accepts.
func (q *unexpectedQueue[M]) first(k Key, f form) *Msg[M] {
	if f != exact && !q.indexed[f] {
		q.index(f)
	}
	slot := q.bins.find(k.pack())
	if slot < 0 {
		return nil
	}
	return q.bins.slots[slot].first
}

// index starts to index form f, for good.
func (q *unexpectedQueue[M]) index(f form) {
	q.indexed[f] = true
	for _, p := range q.sorted(nil) {
		q.insertAs(p.node, f)
	}
}

func (q *unexpectedQueue[M]) insert(m *Msg[M]) {
	q.insertAs(m, exact)
	for f := anySource; f <= anyBoth; f++ {
		if q.indexed[f] {
			q.insertAs(m, f)
		}
	}
	m.queued = true
	q.n++
}

// insertAs puts m in its place in the bin of form f: in front if all others
// arrived later, at the end if they arrived earlier, as they did unless m is
// put back.
func (q *unexpectedQueue[M]) insertAs(m *Msg[M], f form) {
	b := q.bins.obtain(m.key.widen(f).pack())
	prev, next := b.last, (*Msg[M])(nil)
	if prev != nil && prev.seq > m.seq {
		prev, next = nil, b.first
		for next.seq < m.seq {
			prev, next = next, next.links[f].next
		}
	}
	m.links[f] = links[M]{next: next, prev: prev}
	if prev == nil {
		b.first = m
	} else {
		prev.links[f].next = m
	}
	if next == nil {
		b.last = m
	} else {
		next.links[f].prev = m
	}
}

func (q *unexpectedQueue[M]) unlink(m *Msg[M]) {
	q.unlinkAs(m, exact)
	for f := anySource; f <= anyBoth; f++ {
		if q.indexed[f] {
			q.unlinkAs(m, f)
		}
	}
	m.queued = false
	q.n--
}

func (q *unexpectedQueue[M]) unlinkAs(m *Msg[M], f form) {
	l := m.links[f]
	m.links[f] = links[M]{}
	if l.next != nil && l.prev != nil {
		l.next.links[f].prev = l.prev
		l.prev.links[f].next = l.next
		return
	}
	slot := q.bins.find(m.key.widen(f).pack())
	switch {
	case l.next != nil:
		l.next.links[f].prev = nil
		q.bins.slots[slot].first = l.next
	case l.prev != nil:
		l.prev.links[f].next = nil
		q.bins.slots[slot].last = l.prev
	default:
		q.bins.drop(slot)
	}
}
