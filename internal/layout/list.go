package layout

import (
	"cmp"
	"fmt"
	"slices"
)

// Indexed is blocks of one length at the offsets, in elements.
func Indexed(block int, offsets []int) (Layout, error) {
	return list(len(offsets), func(i int) run { return run{offsets[i], block} })
}

// Blocks is blocks at the offsets, each of its own length.
func Blocks(lengths, offsets []int) (Layout, error) {
	if len(lengths) != len(offsets) {
		return Layout{}, fmt.Errorf("%d lengths and %d offsets", len(lengths), len(offsets))
	}
	return list(len(offsets), func(i int) run { return run{offsets[i], lengths[i]} })
}

// list makes a layout of n runs. Empty ones count for nothing, and runs that follow each
// other in the buffer too become one.
func list(n int, at func(int) run) (Layout, error) {
	l := Layout{runs: make([]run, 0, n)}
	for i := range n {
		r := at(i)
		if r.at < 0 || r.n < 0 {
			return Layout{}, fmt.Errorf("%w: block %d: %d elements from %d", errNegative, i, r.n, r.at)
		}
		end, ok := add(r.at, r.n)
		elements, fits := add(l.elements, r.n)
		if !ok || !fits {
			return Layout{}, fmt.Errorf("%w: block %d: %d elements from %d", errHuge, i, r.n, r.at)
		}
		if r.n == 0 {
			continue
		}
		l.elements, l.extent = elements, max(l.extent, end)
		if k := len(l.runs) - 1; k >= 0 && l.runs[k].at+l.runs[k].n == r.at {
			l.runs[k].n += r.n
		} else {
			l.runs = append(l.runs, r)
		}
	}
	switch len(l.runs) {
	case 0:
		return Layout{}, nil
	case 1:
		return Layout{start: l.runs[0].at, block: l.elements, elements: l.elements, extent: l.extent}, nil
	}
	l.overlap = overlap(l.runs)
	return l, nil
}

// overlap says which two runs have an element in common.
func overlap(runs []run) error {
	byPlace := func(a, b run) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(runs, byPlace) {
		runs = slices.Clone(runs)
		slices.SortFunc(runs, byPlace)
	}
	for i, r := range runs[1:] {
		if before := runs[i]; before.at+before.n > r.at {
			return fmt.Errorf("%d elements from %d overlap with %d from %d", before.n, before.at, r.n, r.at)
		}
	}
	return nil
}
