package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// The neighbours are those that counting on the grid finds, in both directions, and
// what is sent one way comes from the other.
func TestCart(t *testing.T) {
	for _, v := range []struct {
		n        int
		dims     []int
		periodic []bool
	}{
		{1, nil, nil},
		{2, nil, nil},
		{5, []int{2, 2}, nil},
		{6, []int{2, 3}, []bool{true, false}},
		{6, []int{3, 2}, []bool{false, true}},
		{4, []int{1, 4}, []bool{true, true}},
		{6, []int{1, 2, 3}, []bool{false, true, true}},
	} {
		t.Run(fmt.Sprint(v.n, v.dims, v.periodic), func(t *testing.T) {
			run(t, v.n, Config{}, func(ctx context.Context, c *Comm) error {
				g, err := c.Cart(ctx, v.dims, v.periodic)
				places := 1
				for _, d := range v.dims {
					places *= d
				}
				if err != nil || (g == nil) != (c.Rank() >= places) {
					return fmt.Errorf("%v: %w", g, err)
				}
				if g == nil {
					return nil
				}
				if g.Size() != places || g.Rank() != c.Rank() || !slices.Equal(g.Dims(), v.dims) {
					return fmt.Errorf("rank %d of %d, on %v", g.Rank(), g.Size(), g.Dims())
				}
				for r := range places {
					if at := g.Coords(r); g.RankAt(at...) != r {
						return fmt.Errorf("rank %d is at %v, where %d is", r, at, g.RankAt(at...))
					}
				}
				for dim, d := range v.dims {
					for _, disp := range []int{0, 1, -1, 2, -3, 1 << 62, -1 << 63} {
						source, dest := g.Shift(dim, disp)
						if err := checkShift(g, dim, d, disp, source, dest); err != nil {
							return err
						}
						got := []int{-1}
						s, err := Sendrecv(ctx, g.Comm, []int{g.Rank()}, dest, dim, got, source, dim)
						if err != nil || s.Source != source || source != ProcNull && got[0] != source {
							return fmt.Errorf("by %d in dimension %d: %+v, %d: %w", disp, dim, s, got[0], err)
						}
					}
				}
				return g.Barrier(ctx)
			})
		})
	}
}

// checkShift compares with single steps.
func checkShift(g *Cart, dim, d, disp, source, dest int) error {
	step := func(by int) int {
		at := g.Coords(g.Rank())
		if g.Periodic()[dim] {
			at[dim] = ((at[dim]+by%d)%d + d) % d
		} else if x := at[dim] + max(-d, min(by, d)); x < 0 || x >= d {
			return ProcNull
		} else {
			at[dim] = x
		}
		for r := range g.Size() {
			if slices.Equal(g.Coords(r), at) {
				return r
			}
		}
		return ProcNull
	}
	back := -max(disp, -1<<62) // which is a multiple of the same dimensions, or far away
	if disp == -1<<63 && g.Periodic()[dim] {
		back = -(disp % d)
	}
	if step(disp) != dest || step(back) != source {
		return fmt.Errorf("rank %d by %d in dimension %d: from %d to %d, want %d, %d", g.Rank(), disp, dim, source, dest, step(back), step(disp))
	}
	return nil
}

func TestCartSub(t *testing.T) {
	run(t, 6, Config{}, func(ctx context.Context, c *Comm) error {
		g, err := c.Cart(ctx, []int{2, 3}, []bool{false, true})
		if err != nil {
			return err
		}
		row, err := g.Sub(ctx, []bool{false, true})
		if err != nil {
			return err
		}
		column, err := g.Sub(ctx, []bool{true, false})
		if err != nil {
			return err
		}
		one, err := g.Sub(ctx, []bool{false, false})
		if err != nil {
			return err
		}
		r := c.Rank()
		for _, v := range []struct { // in one order on all ranks
			name string
			got  *Cart
			want []int
		}{
			{"row", row, []int{r / 3 * 3, r/3*3 + 1, r/3*3 + 2}},
			{"column", column, []int{r % 3, r%3 + 3}},
			{"one", one, []int{r}},
		} {
			if got := worldRanks(v.got.Comm); !slices.Equal(got, v.want) {
				return fmt.Errorf("%s: %v, want %v", v.name, got, v.want)
			}
			if err := passRound(ctx, v.got.Comm); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
		}
		if !slices.Equal(row.Dims(), []int{3}) || !row.Periodic()[0] || !slices.Equal(column.Dims(), []int{2}) || column.Periodic()[0] {
			return fmt.Errorf("%v, %v", row, column)
		}
		return nil
	})
}

func TestCartErrors(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		for i, f := range []func() error{
			func() error { _, err := c.Cart(ctx, []int{3}, nil); return err },
			func() error { _, err := c.Cart(ctx, []int{1 << 33, 1 << 33}, nil); return err },
			func() error { _, err := c.Cart(ctx, []int{2, 0}, nil); return err },
			func() error { _, err := c.Cart(ctx, []int{-1, -2}, nil); return err },
			func() error { _, err := c.Cart(ctx, []int{2}, []bool{true, false}); return err },
		} {
			var e *Error
			if err := f(); !errors.Is(err, ErrGrid) || !errors.As(err, &e) {
				return fmt.Errorf("call %d: %w", i, err)
			}
		}
		g, err := c.Cart(ctx, []int{2}, nil)
		if err != nil {
			return err
		}
		if _, err := g.Sub(ctx, nil); !errors.Is(err, ErrGrid) {
			return fmt.Errorf("Sub: %w", err)
		}
		for i, f := range []func(){
			func() { g.Shift(1, 1) }, func() { g.Shift(-1, 1) }, func() { g.Coords(2) }, func() { g.Coords(-1) }, func() { g.RankAt() }, func() { g.RankAt(0, 0) },
		} {
			func() {
				defer func() {
					var e *Error
					if err, _ := recover().(error); !errors.As(err, &e) {
						t.Errorf("call %d: %v", i, err)
					}
				}()
				f()
			}()
		}
		if err := g.Free(); err != nil {
			return err
		}
		_, cart := g.Cart(ctx, []int{1}, nil)
		_, sub := g.Sub(ctx, []bool{true})
		if !errors.Is(cart, ErrFreed) || !errors.Is(sub, ErrFreed) {
			return fmt.Errorf("of a freed one: %w, %w", cart, sub)
		}
		return nil
	})
}
