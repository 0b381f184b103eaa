// Init measures how long it takes until a rank can send: reading what the launcher
// says, opening the device, and exchanging addresses with all others.
package main

import (
	"context"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	began := time.Now()
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		took := time.Since(began)
		return harness.RunOnce(ctx, c, harness.Spec{
			Name:   "init",
			Title:  "OSU MPI Init Test",
			Metric: harness.Once,
		}, func(ctx context.Context) (string, error) { return harness.Spread(ctx, c, took) })
	})
}
