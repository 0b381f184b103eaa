// Command heat2d spreads heat over a plate that is cut into a block for each rank.
// In each step the ranks exchange their borders with up to four neighbours; at the
// end rank 0 collects the blocks, and compares them with a run of its own.
//
//	verbrun -n 4 ./examples/heat2d
package main

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

func main() { comm.Main(run) }

const (
	side  = 120 // of the plate, without its edge
	steps = 200

	tagBorder = 1
	tagBlock  = 2
)

func run(ctx context.Context, c *comm.Comm) error {
	rows, columns := shape(c.Size())
	p := newPlate(blockOf(c.Rank(), rows, columns))
	h := newHalo(c, p, rows, columns)
	for range steps {
		if err := h.exchange(ctx); err != nil {
			return err
		}
		p.step()
	}
	if c.Rank() != 0 {
		return comm.Send(ctx, c, p.inside(), 0, tagBlock)
	}
	whole := newPlate(block{0, side, 0, side})
	for range steps {
		whole.step()
	}
	sum := 0.0
	var got []float64
	for r := range c.Size() {
		part := p.inside()
		if r > 0 {
			var err error
			if got, _, err = comm.RecvAppend(ctx, c, got[:0], r, tagBlock); err != nil {
				return err
			}
			part = got
		}
		heat, err := whole.compare(blockOf(r, rows, columns), part)
		if err != nil {
			return fmt.Errorf("rank %d: %w", r, err)
		}
		sum += heat
	}
	fmt.Printf("%d steps on %d x %d blocks: mean temperature %.6f, as in one block\n", steps, rows, columns, sum/(side*side))
	return nil
}

// shape cuts the plate into as many blocks as there are ranks, as square as can be.
func shape(ranks int) (rows, columns int) {
	for r := 1; r*r <= ranks; r++ {
		if ranks%r == 0 {
			rows = r
		}
	}
	return rows, ranks / rows
}

// block is a part of the plate: rows from top to below bottom, columns likewise.
type block struct{ top, bottom, left, right int }

func blockOf(rank, rows, columns int) block {
	y, x := rank/columns, rank%columns
	return block{y * side / rows, (y + 1) * side / rows, x * side / columns, (x + 1) * side / columns}
}
