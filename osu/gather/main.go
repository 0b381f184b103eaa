// Gather measures how long collecting a block of each rank takes, for rank 0: the mean over
// all ranks.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		recv := 0 // blocks
		if c.Rank() == 0 {
			recv = c.Size()
		}
		return harness.RunCollective(ctx, c, harness.Spec{
			Name:  "gather",
			Title: "OSU MPI Gather Latency Test",
		}, harness.Collective{
			Send: 1, Recv: recv,
			Step: func(ctx context.Context, send, recv []byte) error { return coll.Gather(ctx, c, send, recv, 0) },
			From: func(block int) (rank, sent int) { return block, 0 },
		})
	})
}
