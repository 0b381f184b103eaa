package rendezvous

import (
	"cmp"
	"slices"
)

// index is entries by their address, and those of one address by their size. They
// may overlap.
type index []*entry

func (x index) insert(e *entry) index {
	i, _ := slices.BinarySearchFunc(x, e, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.size, b.size))
	})
	return slices.Insert(x, i, e)
}

func (x index) remove(e *entry) index {
	i := slices.Index(x, e)
	return slices.Delete(x, i, i+1)
}

// before returns the last entry that begins at base or before it, and of these the
// largest. A device that looks for local memory by its address takes the same one.
func (x index) before(base uint64) *entry {
	i, _ := slices.BinarySearchFunc(x, base, func(e *entry, base uint64) int {
		if e.base <= base {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return x[i-1]
}
