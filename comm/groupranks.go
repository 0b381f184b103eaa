package comm

// Incl is the given ranks of g, in the order given. Ranks that aren't in g are an
// error, ErrRank, and so is one that is given twice, ErrGroup.
func (g Group) Incl(ranks ...int) (Group, error) {
	return g.incl("Incl", ranks)
}

// Excl is g without the given ranks, in g's order. Errors are those of Incl.
func (g Group) Excl(ranks ...int) (Group, error) {
	return g.excl("Excl", ranks)
}

// Range is the ranks First, First+Stride, and so on, up to Last, if they come to it.
// Stride may be negative, but not 0; Last must not lie before First in its direction.
type Range struct{ First, Last, Stride int }

// RangeIncl is Incl of all ranks of the ranges. A range that has none is an error,
// ErrGroup.
func (g Group) RangeIncl(ranges ...Range) (Group, error) {
	ranks, err := g.expand("RangeIncl", ranges)
	if err != nil {
		return Group{}, err
	}
	return g.incl("RangeIncl", ranks)
}

// RangeExcl is Excl of all ranks of the ranges. Errors are those of RangeIncl.
func (g Group) RangeExcl(ranges ...Range) (Group, error) {
	ranks, err := g.expand("RangeExcl", ranges)
	if err != nil {
		return Group{}, err
	}
	return g.excl("RangeExcl", ranks)
}

func (g Group) incl(op string, ranks []int) (Group, error) {
	if _, err := g.distinct(op, ranks); err != nil {
		return Group{}, err
	}
	some := make([]*peer, len(ranks))
	for i, r := range ranks {
		some[i] = g.peers[r]
	}
	return Group{some}, nil
}

func (g Group) excl(op string, ranks []int) (Group, error) {
	out, err := g.distinct(op, ranks)
	if err != nil {
		return Group{}, err
	}
	var rest []*peer
	for r, p := range g.peers {
		if !out[r] {
			rest = append(rest, p)
		}
	}
	return Group{rest}, nil
}

// distinct checks that ranks are in the group, each once, and says which are there.
func (g Group) distinct(op string, ranks []int) (in []bool, err error) {
	in = make([]bool, len(g.peers))
	for _, r := range ranks {
		if err := g.check(op, r); err != nil {
			return nil, err
		}
		if in[r] {
			return nil, g.fail(op, "%w: rank %d is there twice", ErrGroup, r)
		}
		in[r] = true
	}
	return in, nil
}

// expand lists the ranks of ranges.
func (g Group) expand(op string, ranges []Range) (ranks []int, err error) {
	for _, x := range ranges {
		switch {
		case x.Stride == 0:
			return nil, g.fail(op, "%w: the range %d..%d has a stride of 0", ErrGroup, x.First, x.Last)
		case x.Stride > 0 && x.First > x.Last, x.Stride < 0 && x.First < x.Last:
			return nil, g.fail(op, "%w: from %d in steps of %d there is no way to %d", ErrGroup, x.First, x.Stride, x.Last)
		}
		for r, more := x.First, true; more; r += x.Stride {
			if err := g.check(op, r); err != nil {
				return nil, err
			}
			ranks = append(ranks, r)
			// Without overflow: r is a rank, and Last is not behind it.
			more = x.Stride > 0 && x.Stride <= x.Last-r || x.Stride < 0 && r+x.Stride >= x.Last
		}
	}
	return ranks, nil
}
