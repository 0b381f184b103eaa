// Latency measures the one-way latency between two ranks: they pass a message
// to and fro, and half of the mean time of a round trip is printed.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "latency",
			Title:  "OSU MPI Latency Test",
			Metric: harness.Latency,
		}, harness.NewPingPong(c, 1-c.Rank()))
	})
}
