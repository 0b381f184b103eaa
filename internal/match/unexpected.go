package match

// Msg is an unexpected message's place in a Table. Embed it in the message
// record, and bind it to the record once before the first use. The table owns
// it from AddUnexpected or PutBack until Post or RemoveUnexpected takes it
// out.
//
// In a program with wildcard receives a Msg allocates memory when it is first
// queued, and keeps it: records should be reused.
type Msg[M any] struct {
	val  *M
	node node[Msg[M]]                // under the message's own key
	wild *[numForms - 1]node[Msg[M]] // under the wildcard keys that accept it
}

// Bind sets the record that the table returns for m.
func (m *Msg[M]) Bind(record *M) { m.val = record }

// Key returns the key that m was last queued with.
func (m *Msg[M]) Key() Key { return m.node.key }

// Seq returns the place in the order of arrival that m was last queued with.
func (m *Msg[M]) Seq() Seq { return m.node.seq }

// Queued reports whether m is in a table.
func (m *Msg[M]) Queued() bool { return m.node.queued() }

// unexpectedQueue holds every message under its own key, and for each
// wildcard form in use under the key of that form that accepts it.
type unexpectedQueue[M any] struct {
	index   index[Msg[M]]
	n       int            // messages queued
	wild    bool           // a wildcard form is in use
	indexed [numForms]bool // which are; exact isn't counted
}

// find returns where the earliest message is that a receive with key k, of
// form f, accepts. There is nil if there is none.
func (q *unexpectedQueue[M]) find(k Key, f form) **node[Msg[M]] {
	if f != exact && !q.indexed[f] {
		q.use(f)
	}
	return q.index.find(k)
}

// use starts to index form f, for good.
func (q *unexpectedQueue[M]) use(f form) {
	for _, p := range q.sorted(nil) {
		q.insertAs(p.val, f)
	}
	q.indexed[f] = true
	q.wild = true
}

// take removes and returns the earliest message that a receive with key k, of
// form f, accepts.
func (q *unexpectedQueue[M]) take(k Key, f form) *M {
	p := q.find(k, f)
	if *p == nil {
		return nil
	}
	m := (*p).val
	if q.wild {
		q.remove(m)
	} else {
		q.index.pop(p)
		q.n--
	}
	return m.val
}

func (q *unexpectedQueue[M]) insert(m *Msg[M]) {
	q.n++
	m.node.val = m
	q.index.insert(&m.node)
	if !q.wild {
		return
	}
	for f := anySource; f <= anyBoth; f++ {
		if q.indexed[f] {
			q.insertAs(m, f)
		}
	}
}

func (q *unexpectedQueue[M]) insertAs(m *Msg[M], f form) {
	if m.wild == nil {
		m.wild = new([numForms - 1]node[Msg[M]])
	}
	n := m.as(f)
	n.val, n.key, n.form, n.seq = m, m.node.key.widen(f), f, m.node.seq
	q.index.insert(n)
}

// as returns the node for wildcard form f.
func (m *Msg[M]) as(f form) *node[Msg[M]] { return &m.wild[f-1] }

func (q *unexpectedQueue[M]) remove(m *Msg[M]) {
	q.n--
	q.index.remove(&m.node)
	if !q.wild {
		return
	}
	for f := anySource; f <= anyBoth; f++ {
		if q.indexed[f] {
			q.index.remove(m.as(f))
		}
	}
}
