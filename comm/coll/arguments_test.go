package coll_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

// Arguments that are wrong are an error that says what is, on the rank itself, and its
// word on the others.
func TestArguments(t *testing.T) {
	buf, sum := make([]int, 100), coll.Sum[int]
	cut := func(from int, counts ...int) [][]int { return coll.Cut(buf[from:], counts) }
	tests := []struct {
		name string
		want error
		text string
		call func(ctx context.Context, c *comm.Comm) error
	}{
		{"root too high", comm.ErrRank, "Bcast: no such rank: root 3 is not in 0..2", func(ctx context.Context, c *comm.Comm) error { return coll.Bcast(ctx, c, buf, 3) }},
		{"root negative", comm.ErrRank, "root -1", func(ctx context.Context, c *comm.Comm) error { return coll.Reduce(ctx, c, buf, buf, -1, sum) }},
		{"root any", comm.ErrRank, "root", func(ctx context.Context, c *comm.Comm) error { return coll.Scatterv(ctx, c, nil, buf, comm.AnySource) }},
		{"reduce", coll.ErrLength, "Reduce: the lengths of the buffers don't fit: out has 5 values, not 4", func(ctx context.Context, c *comm.Comm) error {
			return coll.Reduce(ctx, c, buf[:4], buf[4:9], c.Rank(), sum)
		}},
		{"allreduce", coll.ErrLength, "out has 0 values, not 4", func(ctx context.Context, c *comm.Comm) error { return coll.Allreduce(ctx, c, buf[:4], nil, sum) }},
		{"scan", coll.ErrLength, "out has 3", func(ctx context.Context, c *comm.Comm) error { return coll.Scan(ctx, c, buf[:4], buf[4:7], sum) }},
		{"exscan", coll.ErrLength, "out has 3", func(ctx context.Context, c *comm.Comm) error { return coll.Exscan(ctx, c, buf[:4], buf[4:7], sum) }},
		{"reduce-scatter", coll.ErrLength, "in has 11 values, not 12", func(ctx context.Context, c *comm.Comm) error {
			return coll.ReduceScatter(ctx, c, buf[:11], buf[50:54], sum)
		}},
		{"gather", coll.ErrLength, "out has 11 values, not 12", func(ctx context.Context, c *comm.Comm) error {
			return coll.Gather(ctx, c, buf[:4], buf[10:21], c.Rank())
		}},
		{"allgather", coll.ErrLength, "out has 13 values, not 12", func(ctx context.Context, c *comm.Comm) error { return coll.Allgather(ctx, c, buf[:4], buf[10:23]) }},
		{"scatter", coll.ErrLength, "in has 4 values, not 12", func(ctx context.Context, c *comm.Comm) error {
			return coll.Scatter(ctx, c, buf[:4], buf[10:14], c.Rank())
		}},
		{"alltoall", coll.ErrLength, "out has 5 values, not 6", func(ctx context.Context, c *comm.Comm) error { return coll.Alltoall(ctx, c, buf[:6], buf[10:15]) }},
		{"alltoall, no multiple", coll.ErrLength, "7 values are not a multiple of 3 ranks", func(ctx context.Context, c *comm.Comm) error { return coll.Alltoall(ctx, c, buf[:7], buf[10:17]) }},
		{"gatherv, parts", coll.ErrLength, "out has 2 parts for 3 ranks", func(ctx context.Context, c *comm.Comm) error {
			return coll.Gatherv(ctx, c, buf[:4], cut(10, 4, 4), c.Rank())
		}},
		{"gatherv, own", coll.ErrLength, "in has 4 values, not 3", func(ctx context.Context, c *comm.Comm) error {
			return coll.Gatherv(ctx, c, buf[:4], cut(10, 3, 3, 3), c.Rank())
		}},
		{"allgatherv, own", coll.ErrLength, "in has 4 values, not 3", func(ctx context.Context, c *comm.Comm) error {
			return coll.Allgatherv(ctx, c, buf[:4], cut(10, 3, 3, 3))
		}},
		{"scatterv, parts", coll.ErrLength, "the list in has 4", func(ctx context.Context, c *comm.Comm) error {
			return coll.Scatterv(ctx, c, cut(10, 3, 3, 3, 3), buf[:3], c.Rank())
		}},
		{"scatterv, own", coll.ErrLength, "out has 2 values, not 3", func(ctx context.Context, c *comm.Comm) error {
			return coll.Scatterv(ctx, c, cut(10, 3, 3, 3), buf[:2], c.Rank())
		}},
		{"alltoallv, in", coll.ErrLength, "the list in has 2", func(ctx context.Context, c *comm.Comm) error {
			return coll.Alltoallv(ctx, c, cut(0, 1, 1), cut(10, 1, 1, 1))
		}},
		{"alltoallv, out", coll.ErrLength, "out has 2 parts", func(ctx context.Context, c *comm.Comm) error {
			return coll.Alltoallv(ctx, c, cut(0, 1, 1, 1), cut(10, 1, 1))
		}},
		{"alltoallv, own", coll.ErrLength, "own part", func(ctx context.Context, c *comm.Comm) error {
			return coll.Alltoallv(ctx, c, cut(0, 1, 1, 1), cut(10, 2, 2, 2))
		}},
		{"allreduce, overlap", coll.ErrOverlap, "in and out", func(ctx context.Context, c *comm.Comm) error { return coll.Allreduce(ctx, c, buf[:10], buf[1:11], sum) }},
		{"reduce, overlap", coll.ErrOverlap, "in and out", func(ctx context.Context, c *comm.Comm) error {
			return coll.Reduce(ctx, c, buf[5:10], buf[9:14], c.Rank(), sum)
		}},
		{"alltoall, overlap", coll.ErrOverlap, "in and out", func(ctx context.Context, c *comm.Comm) error { return coll.Alltoall(ctx, c, buf[3:9], buf[:6]) }},
		{"gather, another's", coll.ErrOverlap, "isn't the block of rank", func(ctx context.Context, c *comm.Comm) error {
			other := (c.Rank() + 1) % c.Size()
			return coll.Gather(ctx, c, buf[2*other:][:2], buf[:6], c.Rank())
		}},
		{"reduce-scatter, another's", coll.ErrOverlap, "isn't the block of rank", func(ctx context.Context, c *comm.Comm) error {
			other := (c.Rank() + 1) % c.Size()
			return coll.ReduceScatter(ctx, c, buf[:6], buf[2*other:][:2], sum)
		}},
		{"allgatherv, parts", coll.ErrOverlap, "parts of out", func(ctx context.Context, c *comm.Comm) error {
			return coll.Allgatherv(ctx, c, buf[50:53], [][]int{buf[6:9], buf[:3], buf[2:5]})
		}},
		{"alltoallv, in and out", coll.ErrOverlap, "part 1 of in", func(ctx context.Context, c *comm.Comm) error {
			return coll.Alltoallv(ctx, c, cut(0, 2, 2, 2), [][]int{buf[20:22], buf[10:12], buf[3:5]})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, 3, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
				err := tt.call(ctx, c)
				var e *coll.Error
				if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Rank != c.Rank() || !strings.Contains(err.Error(), tt.text) {
					return fmt.Errorf("%w, want %v: %s", err, tt.want, tt.text)
				}
				return c.Barrier(ctx) // another rank's word may come when this one has ended
			})
		})
	}
}

// A mistake of one rank alone fails the call of each.
func TestOneMistake(t *testing.T) {
	run(t, 5, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
		root := 0
		if c.Rank() == 3 {
			root = 5
		}
		err := coll.Bcast(ctx, c, make([]int, 10), root)
		if c.Rank() != 3 && err == nil { // it was through already
			err = coll.Allreduce(ctx, c, []int{1}, []int{2}, coll.Sum)
		}
		if !errors.Is(err, comm.ErrRank) {
			return fmt.Errorf("%w, want %v", err, comm.ErrRank)
		}
		var remote *coll.RemoteError
		if errors.As(err, &remote) == (c.Rank() == 3) {
			return fmt.Errorf("a remote error is wrong: %w", err)
		}
		return c.Barrier(ctx)
	})
}

// What can't be sent at all is an error on one rank as on several.
func TestTypes(t *testing.T) {
	for _, n := range []int{1, 2} {
		run(t, n, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
			if err := coll.Bcast(ctx, c, []*int{nil}, 0); !errors.Is(err, comm.ErrType) {
				return fmt.Errorf("pointers: %w", err)
			}
			if err := coll.Allgather(ctx, c, []struct{}{{}}, make([]struct{}, n)); !errors.Is(err, comm.ErrType) {
				return fmt.Errorf("no size: %w", err)
			}
			dup, err := c.Dup(ctx)
			if err != nil {
				return err
			}
			if err := dup.Free(); err != nil {
				return err
			}
			if err := coll.Bcast(ctx, dup, []int{1}, 0); !errors.Is(err, comm.ErrFreed) {
				return fmt.Errorf("freed: %w", err)
			}
			return coll.Bcast(ctx, c, []int{1}, 0) // and nothing was sent
		})
	}
}
