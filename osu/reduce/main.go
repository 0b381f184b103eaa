// Reduce measures how long the sum of a vector of all ranks takes, for rank 0: the mean
// over all ranks.
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
			recv = 1
		}
		return harness.RunCollective(ctx, c, harness.Spec{
			Name:  "reduce",
			Title: "OSU MPI Reduce Latency Test",
		}, harness.Collective{
			Send: 1, Recv: recv, Sum: true,
			Step: func(ctx context.Context, send, recv []byte) error {
				return coll.Reduce(ctx, c, send, recv, 0, coll.Sum)
			},
		})
	})
}
