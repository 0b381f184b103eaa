package comm

import (
	"fmt"
	"slices"
)

// Group is a set of ranks in an order of its own: a rank in it is its place there. It
// is a value that never changes, and its calls need no communication and no other
// rank. The zero Group is empty.
//
// A group begins as that of a communicator, and ends in Comm.Create. Its calls may be
// made concurrently.
type Group struct{ peers []*peer }

// Group is the communicator's ranks, in their order. That of a freed one is empty.
func (c *Comm) Group() Group { return Group{c.peers[:c.size]} }

// Size is how many ranks the group has.
func (g Group) Size() int { return len(g.peers) }

// Rank is this process's rank in the group, or Undefined if it isn't in it.
func (g Group) Rank() int {
	if r := slices.IndexFunc(g.peers, func(p *peer) bool { return p.ep == nil }); r >= 0 {
		return r
	}
	return Undefined
}

// places is where each member is.
func (g Group) places() map[*peer]int {
	at := make(map[*peer]int, len(g.peers))
	for r, p := range g.peers {
		at[p] = r
	}
	return at
}

// Union is g's ranks, and after them those of h that are not in g, each in its order.
func (g Group) Union(h Group) Group {
	in := g.places()
	return Group{slices.Concat(g.peers, h.where(func(p *peer) bool { _, both := in[p]; return !both }))}
}

// Intersection is the ranks that are in both groups, in g's order.
func (g Group) Intersection(h Group) Group {
	in := h.places()
	return Group{g.where(func(p *peer) bool { _, both := in[p]; return both })}
}

// Difference is g's ranks that are not in h, in g's order.
func (g Group) Difference(h Group) Group {
	in := h.places()
	return Group{g.where(func(p *peer) bool { _, both := in[p]; return !both })}
}

// where is the members that keep chooses, in a new slice.
func (g Group) where(keep func(*peer) bool) (some []*peer) {
	for _, p := range g.peers {
		if keep(p) {
			some = append(some, p)
		}
	}
	return some
}

// Translate says which ranks in to the given ones of g are: Undefined for those that
// are not in it, ProcNull for ProcNull. A rank that isn't in g is an error, ErrRank.
func (g Group) Translate(ranks []int, to Group) ([]int, error) {
	at := to.places()
	out := make([]int, len(ranks))
	for i, r := range ranks {
		if r == ProcNull {
			out[i] = ProcNull
			continue
		}
		if err := g.check("Translate", r); err != nil {
			return nil, err
		}
		there, in := at[g.peers[r]]
		if !in {
			there = Undefined
		}
		out[i] = there
	}
	return out, nil
}

// check says whether a rank is in the group.
func (g Group) check(op string, r int) error {
	if uint(r) < uint(len(g.peers)) {
		return nil
	}
	if len(g.peers) == 0 {
		return g.fail(op, "%w: rank %d of an empty group", ErrRank, r)
	}
	return g.fail(op, "%w: rank %d is not in 0..%d", ErrRank, r, len(g.peers)-1)
}

func (g Group) fail(op, format string, args ...any) error {
	return fmt.Errorf("comm: Group."+op+": "+format, args...)
}
