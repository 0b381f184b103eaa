package coll_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// Over each device that the system has, and between processes.
func TestEverywhere(t *testing.T) {
	commtest.Everywhere(t, 4, func(ctx context.Context, c *comm.Comm) error {
		for i, n := range []int{0, 1, 600, 9000} {
			if err := check(ctx, c, ints, n, uint64(1000*i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// A call of short messages, again and again, takes no memory.
func TestNoAllocations(t *testing.T) {
	if raceOn {
		t.Skip("the race detector's pools forget on purpose")
	}
	const rounds = 1000
	for name, call := range map[string]func(ctx context.Context, c *comm.Comm, in, out []int) error{
		"bcast": func(ctx context.Context, c *comm.Comm, in, _ []int) error { return coll.Bcast(ctx, c, in, 0) },
		"reduce": func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Reduce(ctx, c, in, out, 0, coll.Sum)
		},
		"allreduce": func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Allreduce(ctx, c, in, out, coll.Sum)
		},
		"scan": func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Scan(ctx, c, in, out, coll.Sum)
		},
		"gather": func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Gather(ctx, c, in[:2], out, 0)
		},
		"scatter": func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Scatter(ctx, c, in, out[:2], 0)
		},
		"allgather": func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Allgather(ctx, c, in[:2], out)
		},
		"alltoall": func(ctx context.Context, c *comm.Comm, in, out []int) error { return coll.Alltoall(ctx, c, in, out) },
	} {
		t.Run(name, func(t *testing.T) {
			runPlain(t, 4, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
				ctx = context.WithoutCancel(ctx) // to sleep for one that ends takes memory
				in, out := make([]int, 8), make([]int, 8)
				var before, after runtime.MemStats
				for i := range 2 * rounds {
					if i == rounds {
						if err := c.Barrier(ctx); err != nil {
							return err
						}
						runtime.ReadMemStats(&before)
					}
					if err := call(ctx, c, in, out); err != nil {
						return err
					}
					if i%8 == 0 { // lest a root gets far ahead, and its messages wait
						if err := c.Barrier(ctx); err != nil {
							return err
						}
					}
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				runtime.ReadMemStats(&after)
				// The process has 4 ranks, a runtime, and pools that the collector empties.
				if each := float64(after.Mallocs-before.Mallocs) / (4 * rounds); each > 0.2 {
					return fmt.Errorf("%.2f allocations per call", each)
				}
				return nil
			})
		})
	}
}

// A rank that comes an hour late, of virtual time, is waited for.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) error {
			if c.Rank() == 1 {
				time.Sleep(time.Hour)
			}
			if err := coll.Allreduce(ctx, c, []int{1}, make([]int, 1), coll.Sum); err != nil {
				return err
			}
			if took := time.Since(began); took != time.Hour {
				return fmt.Errorf("it took %v", took)
			}
			return c.Barrier(ctx)
		}, commtest.Limit(2*time.Hour))
	})
}
