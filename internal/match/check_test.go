package match

import "fmt"

// check walks all bins and lists and returns the first broken invariant.
func (t *Table[R, M]) check() error {
	if err := t.posted.check(); err != nil {
		return fmt.Errorf("posted: %w", err)
	}
	if err := t.unexp.check(); err != nil {
		return fmt.Errorf("unexpected: %w", err)
	}
	for r := range t.Posted(nil) {
		if m := t.unexp.scan(r.key); m != nil {
			return fmt.Errorf("receive %v and message %v both wait", r.key, m.key)
		}
	}
	return nil
}

// scan finds a message for k without the index of its form.
func (q *unexpectedQueue[M]) scan(k Key) *Msg[M] {
	for i := range q.bins.slots {
		if m := q.bins.slots[i].first; m != nil && k.Accepts(m.key) {
			return m
		}
	}
	return nil
}

func (t *bins[N]) check() error {
	size, used := len(t.slots), 0
	if size&(size-1) != 0 || size != 0 && size < minBins {
		return fmt.Errorf("%d bins", size)
	}
	for i, s := range t.slots {
		if s.key.b == 0 {
			if s != (bin[N]{}) {
				return fmt.Errorf("unused bin %d holds %v", i, s)
			}
			continue
		}
		used++
		if s.first == nil || s.last == nil {
			return fmt.Errorf("bin %d is in use and empty", i)
		}
		if f := t.find(s.key); f != i {
			return fmt.Errorf("bin %d is found at %d", i, f)
		}
	}
	if used != t.n || 4*used > 3*size {
		return fmt.Errorf("%d of %d bins in use, counted %d", used, size, t.n)
	}
	return nil
}

func (q *postedQueue[R]) check() error {
	if err := q.bins.check(); err != nil {
		return err
	}
	n, forms := 0, [numForms]int{}
	for _, s := range q.bins.slots {
		var prev *Recv[R]
		for r := s.first; r != nil; prev, r = r, r.next {
			switch {
			case !r.queued:
				return fmt.Errorf("%v is linked and not queued", r.key)
			case r.prev != prev:
				return fmt.Errorf("%v: wrong prev", r.key)
			case r.key.pack() != s.key || r.key.form() != r.form:
				return fmt.Errorf("%v form %d in bin %x", r.key, r.form, s.key)
			case prev != nil && prev.seq >= r.seq:
				return fmt.Errorf("%v: place %d before %d", r.key, prev.seq, r.seq)
			}
			n++
			forms[r.form]++
		}
		if s.last != prev {
			return fmt.Errorf("bin %x: wrong last", s.key)
		}
	}
	if n != q.n || forms != q.forms {
		return fmt.Errorf("%d receives, by form %v; counted %d, %v", n, forms, q.n, q.forms)
	}
	return nil
}

func (q *unexpectedQueue[M]) check() error {
	if err := q.bins.check(); err != nil {
		return err
	}
	var n [numForms]int
	for _, s := range q.bins.slots {
		if s.first == nil {
			continue
		}
		bin := Key{uint32(s.key.a >> 32), int32(uint32(s.key.a)), int32(uint32(s.key.b))}
		f := bin.form()
		var prev *Msg[M]
		for m := s.first; m != nil; prev, m = m, m.links[f].next {
			switch {
			case !m.queued:
				return fmt.Errorf("%v is linked and not queued", m.key)
			case m.links[f].prev != prev:
				return fmt.Errorf("%v form %d: wrong prev", m.key, f)
			case m.key.widen(f) != bin:
				return fmt.Errorf("%v in bin %v", m.key, bin)
			case prev != nil && prev.seq >= m.seq:
				return fmt.Errorf("%v: place %d before %d", m.key, prev.seq, m.seq)
			}
			n[f]++
		}
		if s.last != prev {
			return fmt.Errorf("bin %v: wrong last", bin)
		}
	}
	for f := range n {
		want := q.n
		if form(f) != exact && !q.indexed[f] {
			want = 0
		}
		if n[f] != want {
			return fmt.Errorf("%d messages by form %d, counted %d", n[f], f, want)
		}
	}
	return nil
}
