package coll_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

// matrix is a 2×2 matrix over the integers modulo 2³²; its product doesn't commute.
type matrix [2][2]uint32

func (a matrix) times(b matrix) (c matrix) {
	for i := range 2 {
		for j := range 2 {
			c[i][j] = a[i][0]*b[0][j] + a[i][1]*b[1][j]
		}
	}
	return c
}

func product(into, from []matrix) {
	for i := range into {
		into[i] = into[i].times(from[i])
	}
}

// element is a struct of odd size.
type element struct {
	A uint8
	B [3]int16
	C uint8
}

// type of test: how to make the values of a rank, and how to combine two.
type kind[T any] struct {
	name   string
	random func(*rand.Rand) T
	op     coll.Op[T]
}

var (
	bytes    = kind[byte]{"byte", func(r *rand.Rand) byte { return byte(r.Uint32()) }, coll.Xor[byte]}
	ints     = kind[int64]{"int64", func(r *rand.Rand) int64 { return int64(r.Uint64()) }, coll.Sum[int64]}
	floats   = kind[float64]{"float64", func(r *rand.Rand) float64 { return float64(r.IntN(1 << 20)) }, coll.Sum[float64]}
	matrices = kind[matrix]{"matrix", func(r *rand.Rand) matrix {
		return matrix{{r.Uint32(), r.Uint32()}, {r.Uint32(), r.Uint32()}}
	}, product}
	// The first non-zero one of two, which doesn't commute either.
	elements = kind[element]{"struct", func(r *rand.Rand) element {
		return element{uint8(r.IntN(3)), [3]int16{int16(r.Uint32()), 0, int16(r.Uint32())}, uint8(r.Uint32())}
	}, func(into, from []element) {
		for i := range into {
			if into[i].A == 0 {
				into[i] = from[i]
			}
		}
	}}
)

// values are those of a rank in a call: all ranks know all of them.
func (k kind[T]) values(seed uint64, rank, n int) []T {
	r := rand.New(rand.NewPCG(seed, uint64(rank)))
	v := make([]T, n)
	for i := range v {
		v[i] = k.random(r)
	}
	return v
}

// combined is the result of a reduction over the ranks from first to below end.
func (k kind[T]) combined(seed uint64, first, end, n int) []T {
	acc := k.values(seed, first, n)
	for r := first + 1; r < end; r++ {
		k.op(acc, k.values(seed, r, n))
	}
	return acc
}

// joined are the values of all ranks, one after the other.
func (k kind[T]) joined(seed uint64, size, n int) []T {
	var all []T
	for r := range size {
		all = append(all, k.values(seed, r, n)...)
	}
	return all
}

// guarded is a buffer between guards.
type guarded[T any] struct {
	whole []T
	guard []T
}

// room makes room for n values, which hold others.
func (k kind[T]) room(n int) ([]T, *guarded[T]) {
	g := &guarded[T]{whole: k.values(1, 1<<20, n+8), guard: k.values(1, 1<<20, n+8)}
	return g.whole[4:][:n:n], g
}

// untouched says whether the guards are as they were.
func (g *guarded[T]) untouched() error {
	n := len(g.whole)
	for _, i := range []int{0, 1, 2, 3, n - 4, n - 3, n - 2, n - 1} {
		if diff := cmp.Diff(g.guard[i], g.whole[i]); diff != "" {
			return fmt.Errorf("value %d beside the buffer was written: %s", i, diff)
		}
	}
	return nil
}

// lengths of a block, around those at which algorithms change: one value less, and as
// many.
func lengths(elem, size int) []int {
	all := []int{0, 1, 2, 7, 129}
	for _, bytes := range []int{512, 4 << 10, 16 << 10, 64 << 10 / size, 128 << 10} {
		n := (bytes + elem - 1) / elem
		all = append(all, n-1, n)
	}
	return all
}

// alike fails with the first difference.
func alike[T comparable](want, got []T) error {
	if len(want) != len(got) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if want[i] != got[i] {
			return fmt.Errorf("value %d of %d is %v, want %v", i, len(want), got[i], want[i])
		}
	}
	return nil
}

// enough is more values than there are where any other call than Bcast changes.
const enough = 10_000

// check runs one collective of all kinds that there are, for one type and length.
func check[T comparable](ctx context.Context, c *comm.Comm, k kind[T], n int, seed uint64) error {
	for _, one := range calls[T]() {
		if n > enough && one.name != "Bcast" {
			continue
		}
		for _, inPlace := range []bool{false, true} {
			if n >= long && inPlace == (seed/1000%2 == 0) {
				continue // by turns
			}
			for _, root := range roots(one.rooted, c.Size(), n, seed) {
				if err := one.run(ctx, c, k, n, root, inPlace, seed); err != nil {
					return fmt.Errorf("%s of %d %s, root %d, in place %v: %w", one.name, n, k.name, root, inPlace, err)
				}
				seed++
			}
		}
	}
	return nil
}

// long messages aren't tried in all ways.
const long = 200

// roots are all ranks, or two of them for long messages.
func roots(rooted bool, size, n int, seed uint64) []int {
	switch {
	case !rooted:
		return []int{0}
	case n < long || size < 3:
		all := make([]int, size)
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{0, 1 + int(seed/1000)%(size-1)}
}

// Every collective, at 1 to 9 ranks, with lengths around those at which it changes its
// algorithm, from and to all roots, in place and not, of several types, with operators
// that don't commute: the result is that of a loop, and nothing beside it was written.
func TestAgainstOracle(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *comm.Comm) error {
		seed := uint64(0)
		next := func() uint64 { seed += 1000; return seed }
		for i, n := range lengths(8, c.Size()) {
			if raceOn && i%3 != c.Size()%3 {
				continue // which takes ten times as long
			}
			if err := check(ctx, c, ints, n, next()); err != nil {
				return err
			}
		}
		for i, n := range []int{0, 1, 3, 100, 1025} {
			if raceOn && i%3 != c.Size()%3 {
				continue
			}
			if err := check(ctx, c, bytes, 7*n, next()); err != nil {
				return err
			}
			if err := check(ctx, c, floats, n, next()); err != nil {
				return err
			}
			if err := check(ctx, c, matrices, n, next()); err != nil {
				return err
			}
			if err := check(ctx, c, elements, 2*n, next()); err != nil {
				return err
			}
		}
		return nil
	})
}
