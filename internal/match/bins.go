package match

// minBins is the smallest size of a table of bins, a power of two.
const minBins = 64

// bin is one queue: all nodes with one key, in order. A bin in use is never
// empty.
type bin[N any] struct {
	key         packed
	first, last *N
}

// bins is a hash table of bins: open addressing with linear probing, and
// deletion by shifting back, so that no tombstones slow later searches.
type bins[N any] struct {
	slots []bin[N] // length zero or a power of two
	n     int      // slots in use
	quiet int      // drops since the table was last an eighth full
}

// find returns the slot of key k, or -1.
func (t *bins[N]) find(k packed) int {
	if t.n == 0 {
		return -1
	}
	mask := len(t.slots) - 1
	for i := int(k.hash()) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.key == k {
			return i
		}
		if s.key.b == 0 {
			return -1
		}
	}
}

// obtain returns the bin of key k; the caller fills a new one, which has no
// first node, at once. The pointer is good until the next call.
func (t *bins[N]) obtain(k packed) *bin[N] {
	if t.n >= len(t.slots)-len(t.slots)/4 {
		t.resize(max(minBins, 2*len(t.slots)))
	}
	mask := len(t.slots) - 1
	for i := int(k.hash()) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.key == k {
			return s
		}
		if s.key.b == 0 {
			s.key = k
			t.n++
			if t.n > len(t.slots)/8 {
				t.quiet = 0
			}
			return s
		}
	}
}

// drop removes the bin in slot i, which has become empty.
func (t *bins[N]) drop(i int) {
	mask := len(t.slots) - 1
	// Move back every bin of the run that follows which may not stay behind
	// a gap: one whose home is not between the gap and itself.
	for j := (i + 1) & mask; t.slots[j].key.b != 0; j = (j + 1) & mask {
		home := int(t.slots[j].key.hash()) & mask
		if (j-home)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = bin[N]{}
	t.n--
	t.quiet++
	if t.quiet > len(t.slots) && len(t.slots) > minBins {
		t.resize(len(t.slots) / 2)
	}
}

// trim gives back all memory that what is queued now doesn't need.
func (t *bins[N]) trim() {
	if t.n == 0 {
		*t = bins[N]{}
		return
	}
	size := minBins
	for t.n > size/2 {
		size *= 2
	}
	if size < len(t.slots) {
		t.resize(size)
	}
}

func (t *bins[N]) resize(size int) {
	old := t.slots
	t.slots = make([]bin[N], size)
	t.quiet = 0
	mask := size - 1
	for j := range old {
		if old[j].key.b == 0 {
			continue
		}
		i := int(old[j].key.hash()) & mask
		for t.slots[i].key.b != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = old[j]
	}
}
