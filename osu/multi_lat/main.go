// Multi_lat measures the one-way latency between the ranks of several pairs at
// once, and prints their mean.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunPairs(ctx, c, harness.Spec{
			Name:   "multi_lat",
			Title:  "OSU MPI Multi Latency Test",
			Metric: harness.Latency,
			Paired: true,
		}, func(peer int) harness.Body { return harness.NewPingPong(c, peer) })
	})
}
