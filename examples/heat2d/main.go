// Command heat2d spreads heat over a plate that is cut into a block for each rank.
// The ranks lie on a grid. In each step they exchange their borders with up to four
// neighbours, and agree on how much has changed; at the end rank 0 collects the blocks,
// and compares them with a run of its own.
//
//	verbrun -n 4 ./examples/heat2d
package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

func main() { comm.Main(run) }

const (
	side  = 120 // of the plate, without its edge
	steps = 200

	tagBorder = 1
	tagBlock  = 2
)

func run(ctx context.Context, c *comm.Comm) error {
	// As many blocks as there are ranks, as square as can be.
	dims, err := comm.DimsCreate(c.Size(), []int{0, 0})
	if err != nil {
		return err
	}
	slices.Reverse(dims) // wide rather than high: rows of memory are in one piece
	grid, err := c.Cart(ctx, dims, nil)
	if err != nil {
		return err
	}
	p := newPlate(blockOf(grid, grid.Rank()))
	h := newHalo(grid, p)
	change := []float64{0} // of the last step, anywhere
	for range steps {
		if err := h.exchange(ctx); err != nil {
			return err
		}
		change[0] = p.step()
		if err := coll.Allreduce(ctx, grid.Comm, change, change, coll.Max); err != nil {
			return err
		}
	}
	if grid.Rank() != 0 {
		return comm.Send(ctx, grid.Comm, p.inside(), 0, tagBlock)
	}
	whole := newPlate(block{0, side, 0, side})
	for i := range steps {
		if want := whole.step(); i == steps-1 && change[0] != want {
			return fmt.Errorf("the last step has changed %v, want %v", change[0], want)
		}
	}
	sum := 0.0
	var got []float64
	for r := range grid.Size() {
		part := p.inside()
		if r > 0 {
			var err error
			if got, _, err = comm.RecvAppend(ctx, grid.Comm, got[:0], r, tagBlock); err != nil {
				return err
			}
			part = got
		}
		heat, err := whole.compare(blockOf(grid, r), part)
		if err != nil {
			return fmt.Errorf("rank %d: %w", r, err)
		}
		sum += heat
	}
	fmt.Printf("%d steps on %d x %d blocks: mean temperature %.6f, last change %.6f, as in one block\n",
		steps, dims[0], dims[1], sum/(side*side), change[0])
	return nil
}

// block is a part of the plate: rows from top to below bottom, columns likewise.
type block struct{ top, bottom, left, right int }

func blockOf(grid *comm.Cart, rank int) block {
	at, of := grid.Coords(rank), grid.Dims()
	return block{at[0] * side / of[0], (at[0] + 1) * side / of[0], at[1] * side / of[1], (at[1] + 1) * side / of[1]}
}
