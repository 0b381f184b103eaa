// Scatter measures how long giving each rank a block of rank 0's takes: the mean over all
// ranks.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		send := 0 // blocks
		if c.Rank() == 0 {
			send = c.Size()
		}
		return harness.RunCollective(ctx, c, harness.Spec{
			Name:  "scatter",
			Title: "OSU MPI Scatter Latency Test",
		}, harness.Collective{
			Send: send, Recv: 1,
			Step: func(ctx context.Context, send, recv []byte) error { return coll.Scatter(ctx, c, send, recv, 0) },
			From: func(int) (rank, sent int) { return 0, c.Rank() },
		})
	})
}
