package main

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

// settings: rank 0 prints what is used, and where it came from.
func settings(ctx context.Context, c *comm.Comm, _ []string) error {
	if c.Rank() != 0 {
		return nil
	}
	info := c.World().Info()
	fmt.Printf("rank %d of %d, device %q, granted %d\n", info.Rank, info.Size, info.Device, info.Inline)
	for _, s := range info.Settings {
		fmt.Printf("setting %s=%s (%s)\n", s.Name, s.Value, s.Origin)
	}
	return nil
}
