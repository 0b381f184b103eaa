// Allreduce measures how long the sum of a vector of all ranks takes, for all ranks: the
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
			Name:  "allreduce",
			Title: "OSU MPI Allreduce Latency Test",
		}, harness.Collective{
			Send: 1, Recv: 1, Sum: true,
			Step: func(ctx context.Context, send, recv []byte) error {
				return coll.Allreduce(ctx, c, send, recv, coll.Sum)
			},
		})
	})
}
