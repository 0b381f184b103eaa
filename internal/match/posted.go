package match

// Recv is a posted receive's place in a Table. Embed it in the request and
// point Val back at the request. The table owns it from Post until Arrive,
// Offer or Remove takes it out.
type Recv[R any] struct {
	Val *R

	key        Key
	form       form
	queued     bool
	seq        Seq
	next, prev *Recv[R]
}

// Key returns the key that r was last posted with.
func (r *Recv[R]) Key() Key { return r.key }

// Queued reports whether r is in a table.
func (r *Recv[R]) Queued() bool { return r.queued }

// postedQueue holds the posted receives in one bin for each key, wildcard
// keys included.
type postedQueue[R any] struct {
	bins  bins[Recv[R]]
	n     int           // receives queued
	forms [numForms]int // of these, by form
}

func (q *postedQueue[R]) push(r *Recv[R]) {
	b := q.bins.obtain(r.key.pack())
	if b.last == nil {
		b.first = r
	} else {
		r.prev = b.last
		b.last.next = r
	}
	b.last = r
	r.queued = true
	q.forms[r.form]++
	q.n++
}

// take removes and returns the earliest receive that accepts a message with
// key k.
func (q *postedQueue[R]) take(k Key) *Recv[R] {
	slot := -1
	if q.forms[exact] != 0 {
		slot = q.bins.find(k.pack())
	}
	if q.n != q.forms[exact] {
		slot = q.earliest(slot, k)
	}
	if slot < 0 {
		return nil
	}
	r := q.bins.slots[slot].first
	q.remove(r, slot)
	return r
}

// earliest returns the slot whose first receive was posted first, of slot and
// those of the wildcard keys that accept k.
func (q *postedQueue[R]) earliest(slot int, k Key) int {
	for f := anySource; f <= anyBoth; f++ {
		if q.forms[f] == 0 {
			continue
		}
		s := q.bins.find(k.widen(f).pack())
		if slot < 0 || s >= 0 && q.bins.slots[s].first.seq < q.bins.slots[slot].first.seq {
			slot = s
		}
	}
	return slot
}

func (q *postedQueue[R]) unlink(r *Recv[R]) {
	slot := -1
	if r.prev == nil || r.next == nil {
		slot = q.bins.find(r.key.pack())
	}
	q.remove(r, slot)
}

// remove unlinks r. The slot of its bin is needed if r is the first or the
// last in it.
func (q *postedQueue[R]) remove(r *Recv[R], slot int) {
	next, prev := r.next, r.prev
	switch {
	case next == nil && prev == nil:
		q.bins.drop(slot)
	case prev == nil:
		next.prev = nil
		q.bins.slots[slot].first = next
	case next == nil:
		prev.next = nil
		q.bins.slots[slot].last = prev
	default:
		next.prev, prev.next = prev, next
	}
	r.next, r.prev = nil, nil
	r.queued = false
	q.forms[r.form]--
	q.n--
}
