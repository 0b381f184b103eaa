package match

// Recv is a posted receive's place in a Table. Embed it in the request, and
// bind it to the request once before the first use. The table owns it from
// Post until Arrive, Offer or Remove takes it out.
type Recv[R any] struct {
	node node
	val  *R
}

// Bind sets the request that the table returns for r.
func (r *Recv[R]) Bind(request *R) { r.val = request }

// Key returns the key that r was last posted with.
func (r *Recv[R]) Key() Key { return r.node.key }

// Queued reports whether r is in a table.
func (r *Recv[R]) Queued() bool { return r.node.queued() }

// postedQueue holds every posted receive under its own key, wildcards
// included. One that is posted when there is no other, as a blocking receive
// is in most programs, stays out of the index until another one comes.
type postedQueue struct {
	lone  *node // the only receive, unless it is in the index
	index index
	n     int           // receives queued
	wild  int           // of these, with a wildcard
	forms [numForms]int // and by form; exact ones aren't counted
}

// takePosted removes and returns the earliest receive in q that accepts a
// message with key k.
func takePosted[R any](q *postedQueue, k Key) *R {
	if q.n == 0 {
		return nil
	}
	if n := q.lone; n != nil {
		if !n.key.Accepts(k) {
			return nil
		}
		q.lone, n.prev = nil, nil // by hand what remove does
		q.forget(n)
		return recvOf[R](n).val
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
	return recvOf[R](n).val
}

// earliest returns where the receive is that was posted first: the one at p,
// if any, or the first of a wildcard key that accepts k.
func (q *postedQueue) earliest(p **node, k Key) **node {
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

// add queues n.
func (q *postedQueue) add(n *node) {
	q.count(n)
	if q.n == 1 {
		q.index.reserve()
		q.index.left-- // as if it were in there: an index that isn't needed any more shrinks
		q.lone, n.prev = n, n
		return
	}
	q.settle()
	q.index.insert(n)
}

// settle moves the only receive to the index.
func (q *postedQueue) settle() {
	if n := q.lone; n != nil {
		q.lone, n.prev = nil, nil
		q.index.insert(n)
	}
}

func (q *postedQueue) remove(n *node) {
	if q.lone == n {
		q.lone, n.prev = nil, nil
	} else {
		q.index.remove(n)
	}
	q.forget(n)
}

// sorted returns the receives whose keys keep returns true for, or all.
func (q *postedQueue) sorted(keep func(Key) bool) []place {
	q.settle()
	return q.index.sorted(keep)
}

func (q *postedQueue) count(n *node) {
	q.n++
	if n.form != exact {
		q.wild++
		q.forms[n.form]++
	}
}

func (q *postedQueue) forget(n *node) {
	q.n--
	if n.form != exact {
		q.wild--
		q.forms[n.form]--
	}
}
