// Bcast measures how long a broadcast from rank 0 takes: the mean over all ranks.
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
			send = 1
		}
		return harness.RunCollective(ctx, c, harness.Spec{
			Name:  "bcast",
			Title: "OSU MPI Broadcast Latency Test",
		}, harness.Collective{
			Send: send, Recv: 1 - send,
			Step: func(ctx context.Context, send, recv []byte) error {
				if c.Rank() == 0 {
					return coll.Bcast(ctx, c, send, 0)
				}
				return coll.Bcast(ctx, c, recv, 0)
			},
			From: func(int) (rank, sent int) { return 0, 0 },
		})
	})
}
