// Partitioned_latency is latency with messages in eight partitions, or fewer if the
// size can't be divided so: the sender makes them ready one by one.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "partitioned_latency",
			Title:  "OSU MPI Partitioned Latency Test",
			Metric: harness.Latency,
		}, harness.NewPartitionedPingPong(c, 1-c.Rank()))
	})
}
