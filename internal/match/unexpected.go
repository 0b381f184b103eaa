package match

// Msg is an unexpected message's place in a Table. It must be the first field
// of the message record; bind it to the record once before the first use. The
// table owns it from AddUnexpected or PutBack until Post or RemoveUnexpected
// takes it out.
//
// In a program with wildcard receives a Msg allocates memory when it is first
// queued, and keeps it: records should be reused.
type Msg[M any] struct {
	node node      // under the message's own key
	wild *wildNode // under the wildcard keys that accept it: a list
}

// WildSize is how many bytes a Msg takes besides for each form of wildcards, once
// it has been queued in a program that uses it.
const WildSize = 64

// Bind checks that m is where the table looks for it: at the beginning of its
// record.
func (m *Msg[M]) Bind(record *M) {
	if !first(record, m) {
		panic("match: a Msg that isn't the first field of its record")
	}
}

// Key returns the key that m was last queued with, or that SetKey gave it.
func (m *Msg[M]) Key() Key { return m.node.key }

// SetKey gives a message that is in no table its key, which must have no
// wildcard.
func (m *Msg[M]) SetKey(k Key) { m.node.key = k }

// Label returns what SetLabel has stored.
func (m *Msg[M]) Label() (kind uint8, size uint16) { return m.node.kind, m.node.size }

// SetLabel stores what the record's owner likes, in three bytes that a Msg has
// to spare. The table leaves it alone.
func (m *Msg[M]) SetLabel(kind uint8, size uint16) { m.node.kind, m.node.size = kind, size }

// Link makes next follow m in a list of the record's owner, as of records that
// are out of use. Neither may be in a table.
func (m *Msg[M]) Link(next *M) {
	if m.Queued() {
		panic("match: a queued message linked")
	}
	m.node.next = nodeOf(next)
}

// Unlink returns what Link made follow m, and forgets it.
func (m *Msg[M]) Unlink() *M {
	next := m.node.next
	m.node.next = nil
	return recordOf[M](next)
}

// Seq returns the place in the order of arrival that m was last queued with.
func (m *Msg[M]) Seq() Seq { return m.node.seq }

// Queued reports whether m is in a table.
func (m *Msg[M]) Queued() bool { return m.node.queued() }

// unexpectedQueue holds every message under its own key, and for each
// wildcard form in use under the key of that form that accepts it.
type unexpectedQueue[M any] struct {
	index   index
	n       int            // messages queued
	wild    int            // wildcard forms that are in use
	indexed [numForms]bool // which are; exact isn't counted
}

// find returns where the earliest message is that a receive with key k, of
// form f, accepts. There is nil if there is none.
func (q *unexpectedQueue[M]) find(k Key, f form) **node {
	if f != exact && !q.indexed[f] {
		q.use(f)
	}
	return q.index.find(k)
}

// use starts to index form f, for good.
func (q *unexpectedQueue[M]) use(f form) {
	for _, p := range q.sorted(nil) {
		q.insertAs(msgOf[M](p.node), f)
	}
	q.indexed[f] = true
	q.wild++
}

// take removes and returns the earliest message that a receive with key k, of
// form f, accepts.
func (q *unexpectedQueue[M]) take(k Key, f form) *M {
	p := q.find(k, f)
	if *p == nil {
		return nil
	}
	n := (*p).message()
	if q.wild != 0 {
		q.remove(msgOf[M](n))
	} else {
		q.index.pop(p)
		q.n--
	}
	return recordOf[M](n)
}

func (q *unexpectedQueue[M]) insert(m *Msg[M]) {
	q.n++
	q.index.insert(&m.node)
	if q.wild == 0 {
		return
	}
	for f := anySource; f <= anyBoth; f++ {
		if q.indexed[f] {
			q.insertAs(m, f)
		}
	}
}

func (q *unexpectedQueue[M]) insertAs(m *Msg[M], f form) {
	n := m.as(f)
	if n == nil {
		n = &wildNode{node: node{form: f}, message: &m.node, more: m.wild}
		m.wild = n
	}
	n.key, n.seq = m.node.key.widen(f), m.node.seq
	q.index.insert(&n.node)
}

// as returns the node for wildcard form f, or nil if there is none yet.
func (m *Msg[M]) as(f form) *wildNode {
	n := m.wild
	for n != nil && n.form != f {
		n = n.more
	}
	return n
}

func (q *unexpectedQueue[M]) remove(m *Msg[M]) {
	q.n--
	q.index.remove(&m.node)
	for n := m.wild; n != nil; n = n.more {
		if n.queued() { // not where m has been in another table, with more forms
			q.index.remove(&n.node)
		}
	}
}
