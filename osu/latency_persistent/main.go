// Latency_persistent is latency with persistent requests: they are made once for each
// size, and started for each message.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "latency_persistent",
			Title:  "OSU MPI Latency Persistent Test",
			Metric: harness.Latency,
		}, harness.NewPersistentPingPong(c, 1-c.Rank()))
	})
}
