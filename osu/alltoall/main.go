// Alltoall measures how long an exchange of blocks between all ranks takes: the mean over
// them.
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
			Name:  "alltoall",
			Title: "OSU MPI All-to-All Personalized Exchange Latency Test",
		}, harness.Collective{
			Send: c.Size(), Recv: c.Size(),
			Step: func(ctx context.Context, send, recv []byte) error { return coll.Alltoall(ctx, c, send, recv) },
			From: func(block int) (rank, sent int) { return block, c.Rank() },
		})
	})
}
