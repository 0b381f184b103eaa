package match

import "fmt"

// check walks all lists and returns the first broken invariant.
func (t *Table[R, M]) check() error {
	if err := t.posted.check(); err != nil {
		return fmt.Errorf("posted: %w", err)
	}
	if err := t.unexp.check(); err != nil {
		return fmt.Errorf("unexpected: %w", err)
	}
	if t.posted.n == 0 {
		return nil
	}
	if n := t.posted.lone; n != nil {
		for _, m := range t.unexp.sorted(nil) {
			if n.key.Accepts(m.key) {
				return fmt.Errorf("receive %v and message %v both wait", n.key, m.key)
			}
		}
		return nil
	}
	for _, m := range t.unexp.sorted(nil) {
		for f := exact; f < numForms; f++ {
			if r := *t.posted.index.find(m.key.widen(f)); r != nil {
				return fmt.Errorf("receive %v and message %v both wait", r.key, m.key)
			}
		}
	}
	return nil
}

func (q *postedQueue) check() error {
	forms, err := q.index.check()
	if err != nil {
		return err
	}
	n, wild := 0, 0
	for f, m := range forms {
		n += m
		if form(f) != exact {
			wild += m
		}
	}
	if l := q.lone; l != nil {
		if n != 0 || !l.queued() {
			return fmt.Errorf("the only receive %v is queued %v, and %d others are", l.key, l.queued(), n)
		}
		n++
		if l.form != exact {
			wild++
			forms[l.form]++
		}
	}
	forms[exact] = 0
	if n != q.n || wild != q.wild || forms != q.forms {
		return fmt.Errorf("%d receives, %d with wildcards, by form %v; counted %d, %d, %v",
			n, wild, forms, q.n, q.wild, q.forms)
	}
	return nil
}

func (q *unexpectedQueue[M]) check() error {
	forms, err := q.index.check()
	if err != nil {
		return err
	}
	for f, n := range forms {
		want := q.n
		if form(f) != exact && !q.indexed[f] {
			want = 0
		}
		if n != want {
			return fmt.Errorf("%d messages by form %d, want %d", n, f, want)
		}
	}
	for _, p := range q.sorted(nil) {
		for f := exact; f < numForms; f++ {
			n := p.node
			if f != exact {
				if !q.indexed[f] {
					continue
				}
				n = &msgOf[M](p.node).as(f).node
			}
			if n.message() != p.node || n.seq != p.seq || n.key != p.key.widen(f) || !n.queued() {
				return fmt.Errorf("message %v: its node of form %d differs", p.key, f)
			}
		}
	}
	return nil
}

// check returns the number of nodes by form.
func (x *index) check() (forms [numForms]int, err error) {
	size, keys := len(x.buckets), 0
	if size&(size-1) != 0 || size != 0 && size < minBuckets {
		return forms, fmt.Errorf("%d buckets", size)
	}
	for _, head := range x.buckets {
		for ; head != nil; head = head.chain {
			keys++
			if *x.find(head.key) != head {
				return forms, fmt.Errorf("%v is not found", head.key)
			}
			n, err := head.checkList()
			if err != nil {
				return forms, err
			}
			forms[head.form] += n
		}
	}
	if keys != x.keys || keys > size || keys > x.high || x.left < 0 || x.left > size-keys {
		return forms, fmt.Errorf("%d lists in %d buckets; counted %d, high %d, left %d",
			keys, size, x.keys, x.high, x.left)
	}
	return forms, nil
}

// checkList returns the length of the list with this head.
func (n *node) checkList() (int, error) {
	head, last, length := n, n.prev, 0
	for prev := (*node)(nil); n != nil; prev, n = n, n.next {
		length++
		switch {
		case n.key != head.key || n.form != n.key.form():
			return 0, fmt.Errorf("%v, form %d, in the list of %v", n.key, n.form, head.key)
		case n != head && n.chain != nil:
			return 0, fmt.Errorf("%v is chained and not the head", n.key)
		case n != head && n.prev != prev:
			return 0, fmt.Errorf("%v: wrong prev", n.key)
		case n != head && prev.seq >= n.seq:
			return 0, fmt.Errorf("%v: place %d before %d", n.key, prev.seq, n.seq)
		case n.next == nil && n != last:
			return 0, fmt.Errorf("%v: wrong last", n.key)
		}
	}
	return length, nil
}
