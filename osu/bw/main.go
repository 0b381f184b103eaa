// Bw measures the bandwidth from rank 0 to rank 1: a window of messages is
// sent without waiting, then answered as a whole.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "bw",
			Title:  "OSU MPI Bandwidth Test",
			Metric: harness.Bandwidth,
			OneWay: true,
		}, harness.NewStream(c, 1-c.Rank(), 1))
	})
}
