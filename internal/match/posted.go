package match

// Recv is a posted receive's place in a Table. Embed it in the request, and
// bind it to the request once before the first use. The table owns it from
// Post until Arrive, Offer or Remove takes it out.
type Recv[R any] struct {
	node node[R]
}

// Bind sets the request that the table returns for r.
func (r *Recv[R]) Bind(request *R) { r.node.val = request }

// Key returns the key that r was last posted with.
func (r *Recv[R]) Key() Key { return r.node.key }

// Queued reports whether r is in a table.
func (r *Recv[R]) Queued() bool { return r.node.queued() }

// postedQueue holds every posted receive under its own key, wildcards
// included.
type postedQueue[R any] struct {
	index index[R]
	n     int           // receives queued
	wild  int           // of these, with a wildcard
	forms [numForms]int // and by form; exact ones aren't counted
}

// take removes and returns the earliest receive that accepts a message with
// key k.
func (q *postedQueue[R]) take(k Key) *R {
	if q.n == 0 {
		return nil
	}
	p := q.index.find(k)
	if q.wild != 0 {
		p = q.earliest(p, k)
	}
	n := *p
	if n == nil {
		return nil
	}
	q.index.pop(p)
	q.forget(n)
	return n.val
}

// earliest returns where the receive is that was posted first: the one at p,
// if any, or the first of a wildcard key that accepts k.
func (q *postedQueue[R]) earliest(p **node[R], k Key) **node[R] {
	for f := anySource; f <= anyBoth; f++ {
		if q.forms[f] == 0 {
			continue
		}
		w := q.index.find(k.widen(f))
		if *w != nil && (*p == nil || (*w).seq < (*p).seq) {
			p = w
		}
	}
	return p
}

func (q *postedQueue[R]) remove(n *node[R]) {
	q.index.remove(n)
	q.forget(n)
}

func (q *postedQueue[R]) count(n *node[R]) {
	q.n++
	if n.form != exact {
		q.wild++
		q.forms[n.form]++
	}
}

func (q *postedQueue[R]) forget(n *node[R]) {
	q.n--
	if n.form != exact {
		q.wild--
		q.forms[n.form]--
	}
}
