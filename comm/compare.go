package comm

import (
	"fmt"
	"slices"
)

// Comparison is how much two groups, or two communicators, have in common.
type Comparison uint8

// The results of a comparison, each with less in common than the one before.
const (
	Ident     Comparison = iota // the same: of groups, the same ranks in the same order
	Congruent                   // two communicators of the same ranks in the same order
	Similar                     // the same ranks in another order
	Unequal                     // not the same ranks
)

func (c Comparison) String() string {
	names := [...]string{"Ident", "Congruent", "Similar", "Unequal"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("Comparison(%d)", uint8(c))
}

// Compare says whether two groups are Ident, Similar or Unequal.
func (g Group) Compare(h Group) Comparison {
	switch {
	case slices.Equal(g.peers, h.peers):
		return Ident
	case len(g.peers) != len(h.peers) || g.Difference(h).Size() != 0:
		return Unequal
	}
	return Similar
}

// Compare says whether two communicators are one (Ident), have the same ranks in the
// same order (Congruent), in another order (Similar), or have not (Unequal). It is
// local. A communicator that was freed has no ranks.
func (c *Comm) Compare(d *Comm) Comparison {
	if c == d {
		return Ident
	}
	if got := c.Group().Compare(d.Group()); got != Ident {
		return got
	}
	return Congruent
}
