package comm

import (
	"context"
	"fmt"
	"slices"
)

// Cart is a communicator whose ranks lie on a grid, row by row: the last coordinate
// counts fastest. Its calls but Sub need no communication, and may be made
// concurrently; an argument that is out of range is a mistake in the program, and a
// panic with an *Error.
type Cart struct {
	*Comm
	dims     []int
	periodic []bool
}

// Cart makes a communicator of the first ranks of this one, which lie on a grid with
// the given number of ranks in each dimension; where periodic is true, the last one's
// neighbour is the first one. A nil periodic is false everywhere. Ranks that the grid
// has no place for get nil. [DimsCreate] finds dimensions for a number of ranks.
// Collective: every rank calls it with the same arguments, in the same order as its
// other collective calls on this communicator.
//
// Ranks keep their order. It may be called concurrently on different communicators.
func (c *Comm) Cart(ctx context.Context, dims []int, periodic []bool) (*Cart, error) {
	if c.size == 0 {
		return nil, c.fail("Cart", noPeer, 0, nil, ErrFreed)
	}
	if periodic == nil {
		periodic = make([]bool, len(dims))
	}
	if len(periodic) != len(dims) {
		return nil, c.fail("Cart", noPeer, 0, nil, fmt.Errorf("%w: %d dimensions, and periodic has %d", ErrGrid, len(dims), len(periodic)))
	}
	n := 1
	for i, d := range dims {
		if d < 1 {
			return nil, c.fail("Cart", noPeer, 0, nil, fmt.Errorf("%w: %d ranks in dimension %d", ErrGrid, d, i))
		}
		if d > c.size/n {
			return nil, c.fail("Cart", noPeer, 0, nil, fmt.Errorf("%w: %v has more places than the %d ranks there are", ErrGrid, dims, c.size))
		}
		n *= d
	}
	color := 0
	if c.rank >= n {
		color = Undefined
	}
	return newCart(ctx, c, "Cart", color, 0, dims, periodic)
}

// newCart is the grid of the ranks of one color.
func newCart(ctx context.Context, c *Comm, op string, color, key int, dims []int, periodic []bool) (*Cart, error) {
	some, err := c.split(ctx, op, color, key)
	if some == nil || err != nil {
		return nil, err
	}
	return &Cart{some, slices.Clone(dims), slices.Clone(periodic)}, nil
}

// Dims is how many ranks there are in each dimension.
func (t *Cart) Dims() []int { return slices.Clone(t.dims) }

// Periodic says which dimensions have no borders.
func (t *Cart) Periodic() []bool { return slices.Clone(t.periodic) }

// Coords is where a rank lies.
func (t *Cart) Coords(rank int) []int {
	n := t.places()
	if uint(rank) >= uint(n) {
		panic(t.fail("Cart.Coords", noPeer, 0, nil, fmt.Errorf("%w: rank %d is not in 0..%d", ErrRank, rank, n-1)))
	}
	at := make([]int, len(t.dims))
	for i := len(t.dims) - 1; i >= 0; i-- {
		at[i] = rank % t.dims[i]
		rank /= t.dims[i]
	}
	return at
}

// RankAt is which rank lies at some coordinates. Beyond an open border there is none:
// ProcNull. In a periodic dimension a coordinate is any number.
func (t *Cart) RankAt(coords ...int) int {
	if len(coords) != len(t.dims) {
		panic(t.fail("Cart.RankAt", noPeer, 0, nil, fmt.Errorf("%w: %d coordinates in %d dimensions", ErrGrid, len(coords), len(t.dims))))
	}
	rank := 0
	for i, x := range coords {
		d := t.dims[i]
		if t.periodic[i] {
			x = (x%d + d) % d
		}
		if x < 0 || x >= d {
			return ProcNull
		}
		rank = rank*d + x
	}
	return rank
}

// Shift is whom this rank receives from and sends to when all ranks pass something
// disp places on along a dimension; disp may be negative. Beyond an open border there
// is ProcNull, which sends and receives take as nothing to do:
//
//	up, down := grid.Shift(0, 1)
//	comm.Sendrecv(ctx, grid.Comm, lowest, down, 0, above, up, 0)
func (t *Cart) Shift(dim, disp int) (source, dest int) {
	if uint(dim) >= uint(len(t.dims)) {
		panic(t.fail("Cart.Shift", noPeer, 0, nil, fmt.Errorf("%w: dimension %d is not in 0..%d", ErrGrid, dim, len(t.dims)-1)))
	}
	return t.beyond(dim, disp, true), t.beyond(dim, disp, false)
}

// beyond is the rank disp places before or behind this one, without overflow.
func (t *Cart) beyond(dim, disp int, before bool) int {
	d := t.dims[dim]
	if t.periodic[dim] {
		disp %= d
	} else {
		disp = max(-d, min(disp, d))
	}
	if before {
		disp = -disp
	}
	at := t.Coords(t.Rank())
	at[dim] += disp
	return t.RankAt(at...)
}

// Sub cuts the grid into grids of fewer dimensions, those for which keep is true: this
// rank gets the one that it lies in, with all ranks whose other coordinates are its
// own. So the rows and columns of a matrix have communicators. Collective, as Cart.
func (t *Cart) Sub(ctx context.Context, keep []bool) (*Cart, error) {
	if len(keep) != len(t.dims) {
		return nil, t.fail("Cart.Sub", noPeer, 0, nil, fmt.Errorf("%w: keep has %d entries for %d dimensions", ErrGrid, len(keep), len(t.dims)))
	}
	if t.Size() == 0 {
		return nil, t.fail("Cart.Sub", noPeer, 0, nil, ErrFreed)
	}
	var dims []int
	var periodic []bool
	color := 0
	for i, x := range t.Coords(t.Rank()) {
		if keep[i] {
			dims, periodic = append(dims, t.dims[i]), append(periodic, t.periodic[i])
		} else {
			color = color*t.dims[i] + x
		}
	}
	return newCart(ctx, t.Comm, "Cart.Sub", color, 0, dims, periodic)
}

// places is how many ranks the grid has, also when it was freed.
func (t *Cart) places() int {
	n := 1
	for _, d := range t.dims {
		n *= d
	}
	return n
}
