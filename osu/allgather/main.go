// Allgather measures how long collecting a block of each rank takes, for all ranks: the
// mean over them.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunCollective(ctx, c, harness.Spec{
			Name:  "allgather",
			Title: "OSU MPI Allgather Latency Test",
		}, harness.Collective{
			Send: 1, Recv: c.Size(),
			Step: func(ctx context.Context, send, recv []byte) error { return coll.Allgather(ctx, c, send, recv) },
			From: func(block int) (rank, sent int) { return block, 0 },
		})
	})
}
