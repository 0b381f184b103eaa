// Bw_persistent is bw with persistent requests: a window of them is made once for each
// size, and started in each iteration.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "bw_persistent",
			Title:  "OSU MPI Bandwidth Persistent Test",
			Metric: harness.Bandwidth,
			OneWay: true,
		}, harness.NewPersistentStream(c, 1-c.Rank(), 1))
	})
}
