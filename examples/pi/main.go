// Command pi integrates 4/(1+x²) from 0 to 1: each rank takes its share of the
// intervals, and rank 0 adds up single values from all others.
//
//	verbrun -n 4 ./examples/pi
package main

import (
	"context"
	"fmt"
	"math"

	"github.com/verbena-mpi/verbena/comm"
)

func main() { comm.Main(run) }

const (
	intervals = 1_000_000
	tagSum    = 1
)

func run(ctx context.Context, c *comm.Comm) error {
	sum := share(c.Rank(), c.Size())
	if c.Rank() != 0 {
		return comm.SendOne(ctx, c, sum, 0, tagSum)
	}
	for r := 1; r < c.Size(); r++ { // in order: the sum is the same in each run
		part, _, err := comm.RecvOne[float64](ctx, c, r, tagSum)
		if err != nil {
			return err
		}
		sum += part
	}
	if off := math.Abs(sum - math.Pi); off > 1e-11 {
		return fmt.Errorf("pi is not %.15f: that is off by %g", sum, off)
	}
	fmt.Printf("pi is %.11f, by %d ranks\n", sum, c.Size())
	return nil
}

// share is the sum over every size-th interval, from the rank's on.
func share(rank, size int) (sum float64) {
	const width = 1.0 / intervals
	for i := rank; i < intervals; i += size {
		x := (float64(i) + 0.5) * width
		sum += 4 / (1 + x*x) * width
	}
	return sum
}
