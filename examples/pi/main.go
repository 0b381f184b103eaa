// Command pi integrates 4/(1+x²) from 0 to 1: each rank takes its share of the
// intervals, and rank 0 gets the sum of all.
//
//	verbrun -n 4 ./examples/pi
package main

import (
	"context"
	"fmt"
	"math"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

func main() { comm.Main(run) }

const intervals = 1_000_000

func run(ctx context.Context, c *comm.Comm) error {
	sum := []float64{share(c.Rank(), c.Size())}
	if err := coll.Reduce(ctx, c, sum, sum, 0, coll.Sum); err != nil || c.Rank() != 0 {
		return err
	}
	if off := math.Abs(sum[0] - math.Pi); off > 1e-11 {
		return fmt.Errorf("pi is not %.15f: that is off by %g", sum[0], off)
	}
	fmt.Printf("pi is %.11f, by %d ranks\n", sum[0], c.Size())
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
