package harness

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// RunOnce runs a benchmark that has no table, on any number of ranks: rank 0 prints
// its title and the line that it makes. Its options are -h and -v.
func RunOnce(ctx context.Context, c *comm.Comm, spec Spec, line func(context.Context) (string, error)) error {
	r := &run{spec: &spec, job: commJob{c}, once: line, stdout: os.Stdout, stderr: os.Stderr}
	return r.start(ctx, os.Args[1:])
}

// Spread is the line that says how long something took on all ranks.
func Spread(ctx context.Context, c *comm.Comm, took time.Duration) (string, error) {
	all, err := commJob{c}.gather(ctx, took.Milliseconds())
	if err != nil {
		return "", err
	}
	return spread(all), nil
}

func spread(ms []int64) string {
	var sum int64
	for _, t := range ms {
		sum += t
	}
	return fmt.Sprintf("nprocs: %d, min: %d ms, max: %d ms, avg: %d ms",
		len(ms), slices.Min(ms), slices.Max(ms), sum/int64(len(ms)))
}
