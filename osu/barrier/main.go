// Barrier measures how long a barrier takes: the mean over all ranks.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunCollective(ctx, c, harness.Spec{
			Name:     "barrier",
			Title:    "OSU MPI Barrier Latency Test",
			Sizeless: true,
		}, harness.Collective{
			Step: func(ctx context.Context, _, _ []byte) error { return c.Barrier(ctx) },
		})
	})
}
