package match

// minBuckets is the smallest number of buckets, a power of two.
const minBuckets = 64

// index finds the earliest node of a key. It is a chained hash table whose
// chains are made of the list heads themselves.
type index struct {
	buckets []*node // none, or a power of two
	keys    int     // lists
	left    int     // lists that may be started before the next resize
	high    int     // most lists since then
}

// find returns the pointer to the first node of key k, or, if there is none,
// the nil pointer at the end of the chain where it would be. It is good until
// the index changes. There must be buckets, as there are once a node has been
// inserted.
func (x *index) find(k Key) **node {
	p := &x.buckets[int(k.hash())&(len(x.buckets)-1)]
	for *p != nil && (*p).key != k {
		p = &(*p).chain
	}
	return p
}

// insert puts n in its place among the nodes of its key.
func (x *index) insert(n *node) {
	x.reserve()
	if p := x.find(n.key); *p == nil {
		x.start(p, n)
	} else {
		join(p, n)
	}
}

// reserve makes room for one more list.
func (x *index) reserve() {
	if x.left == 0 {
		x.resize()
	}
}

// start makes n, whose key is new, the head of a list of one, at p.
func (x *index) start(p **node, n *node) {
	x.left--
	x.keys++
	if x.keys > x.high {
		x.high = x.keys
	}
	n.prev = n
	*p = n
}

// join puts n in its place in the list whose head is at p.
func join(p **node, n *node) {
	head := *p
	last := head.prev
	if last.seq < n.seq {
		n.prev, last.next, head.prev = last, n, n
		return
	}
	if n.seq < head.seq {
		n.next, n.prev, n.chain = head, last, head.chain
		head.prev, head.chain = n, nil
		*p = n
		return
	}
	after := head.next
	for after.seq < n.seq {
		after = after.next
	}
	n.next, n.prev = after, after.prev
	n.prev.next, after.prev = n, n
}

// pop removes the head at p.
func (x *index) pop(p **node) {
	head := *p
	rest := head.chain
	if second := head.next; second != nil {
		second.prev, second.chain = head.prev, rest
		head.next = nil
		rest = second
	} else {
		x.keys--
	}
	*p = rest
	head.prev, head.chain = nil, nil
}

// remove removes n from wherever in its list it is.
func (x *index) remove(n *node) {
	prev, next := n.prev, n.next
	if prev.next != n {
		x.pop(x.find(n.key)) // only before a head stands one without a next
		return
	}
	prev.next = next
	if next != nil {
		next.prev = prev
	} else {
		(*x.find(n.key)).prev = prev
	}
	n.next, n.prev = nil, nil
}

// resize is called after every so many new lists as there can be without
// more lists than buckets. It doubles the number of buckets if more than half
// of them are needed, and reduces it if in all that time less than an eighth
// was: looking back that far keeps a program that queues and drains in turns
// from resizing in every turn.
func (x *index) resize() {
	size := len(x.buckets)
	switch {
	case x.keys > size/2 || size == 0:
		x.rehash(max(minBuckets, 2*size))
	case x.high < size/8 && size > minBuckets:
		x.rehash(fitting(x.high))
	}
	x.left = len(x.buckets) - x.keys
	x.high = x.keys
}

// trim gives back all memory that what is queued now doesn't need.
func (x *index) trim() {
	if x.keys == 0 {
		*x = index{}
		return
	}
	if size := fitting(x.keys); size < len(x.buckets) {
		x.rehash(size)
		x.left = size - x.keys
		x.high = x.keys
	}
}

// fitting returns the number of buckets with room for twice as many lists.
func fitting(keys int) int {
	size := minBuckets
	for size < 2*keys {
		size *= 2
	}
	return size
}

func (x *index) rehash(size int) {
	old := x.buckets
	x.buckets = make([]*node, size)
	for _, h := range old {
		for h != nil {
			next := h.chain
			h.chain = nil
			*x.find(h.key) = h
			h = next
		}
	}
}
