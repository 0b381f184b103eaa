// Mbw_mr measures the bandwidth and the message rate of several pairs of ranks
// together: in each, a window of messages is sent without waiting, then answered
// as a whole.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunPairs(ctx, c, harness.Spec{
			Name:   "mbw_mr",
			Title:  "OSU MPI Multiple Bandwidth / Message Rate Test",
			Metric: harness.Rate,
			OneWay: true,
			Paired: true,
		}, func(peer int) harness.Body { return harness.NewStream(c, peer, 4) })
	})
}
