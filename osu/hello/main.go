// Hello starts, meets the other ranks, and ends.
package main

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunOnce(ctx, c, harness.Spec{
			Name:   "hello",
			Title:  "OSU MPI Hello World Test",
			Metric: harness.Once,
		}, func(ctx context.Context) (string, error) {
			return fmt.Sprintf("This is a test with %d processes", c.Size()), c.Barrier(ctx)
		})
	})
}
