package coll_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

// Ranks whose calls don't fit, so that a message meets another call than its own:
// nobody waits for ever, and nobody takes one message for another.
func TestMismatch(t *testing.T) {
	const long = 64 << 10
	sum := coll.Sum[int]
	odd := func(c *comm.Comm) bool { return c.Rank() == 2 }
	length := func(c *comm.Comm, a, b int) []int {
		if odd(c) {
			a = b
		}
		return make([]int, a)
	}
	tests := []struct {
		name string
		call func(ctx context.Context, c *comm.Comm) error
	}{
		{"bcast of another length", func(ctx context.Context, c *comm.Comm) error { return coll.Bcast(ctx, c, length(c, 5, 6), 0) }},
		{"bcast, shorter", func(ctx context.Context, c *comm.Comm) error { return coll.Bcast(ctx, c, length(c, 5, 4), 0) }},
		{"bcast, long and short", func(ctx context.Context, c *comm.Comm) error { return coll.Bcast(ctx, c, length(c, long, 5), 0) }},
		{"bcast, short and long", func(ctx context.Context, c *comm.Comm) error { return coll.Bcast(ctx, c, length(c, 5, long), 0) }},
		{"bcast, other root", func(ctx context.Context, c *comm.Comm) error {
			root := 0
			if c.Rank() == 4 {
				root = 3
			}
			return coll.Bcast(ctx, c, make([]int, 5), root)
		}},
		{"allreduce", func(ctx context.Context, c *comm.Comm) error {
			return coll.Allreduce(ctx, c, length(c, 5, 6), length(c, 5, 6), sum)
		}},
		{"allreduce, long and short", func(ctx context.Context, c *comm.Comm) error {
			return coll.Allreduce(ctx, c, length(c, long, 6), length(c, long, 6), sum)
		}},
		{"allreduce, short and long", func(ctx context.Context, c *comm.Comm) error {
			return coll.Allreduce(ctx, c, length(c, 6, long), length(c, 6, long), sum)
		}},
		{"gather", func(ctx context.Context, c *comm.Comm) error {
			return coll.Gather(ctx, c, length(c, 2, 3), make([]int, 10), 0)
		}},
		{"gather, long", func(ctx context.Context, c *comm.Comm) error {
			return coll.Gather(ctx, c, length(c, 2, long), make([]int, 10), 0)
		}},
		{"scatter", func(ctx context.Context, c *comm.Comm) error {
			return coll.Scatter(ctx, c, make([]int, 10), length(c, 2, 3), 0)
		}},
		{"allgather", func(ctx context.Context, c *comm.Comm) error {
			in := length(c, 2, long)
			return coll.Allgather(ctx, c, in, make([]int, 5*len(in)))
		}},
		{"alltoall", func(ctx context.Context, c *comm.Comm) error {
			return coll.Alltoall(ctx, c, length(c, 10, 5), length(c, 10, 5))
		}},
		{"another call", func(ctx context.Context, c *comm.Comm) error {
			if odd(c) {
				return coll.Bcast(ctx, c, []int{1}, 2)
			}
			return coll.Allreduce(ctx, c, []int{1}, []int{1}, sum)
		}},
		{"another call, long", func(ctx context.Context, c *comm.Comm) error {
			if odd(c) {
				return coll.Bcast(ctx, c, make([]int, long), 2)
			}
			return coll.Allreduce(ctx, c, make([]int, long), make([]int, long), sum)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, 5, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
				err := tt.call(ctx, c)
				for range 10 { // this rank's part may be over before; a further call has it
					if err == nil {
						err = coll.Allreduce(ctx, c, []int{1}, []int{1}, sum)
					}
				}
				for _, want := range []error{coll.ErrMismatch, comm.ErrShort, comm.ErrTruncated, nil} {
					if want == nil {
						return fmt.Errorf("%w, want an error of lengths or calls", err)
					}
					if errors.Is(err, want) {
						break
					}
				}
				return c.Barrier(ctx)
			})
		})
	}
}

// A message that is too short or too long is an error of the rank that receives it.
func TestLengths(t *testing.T) {
	for n, want := range map[int]error{4: comm.ErrTruncated, 5: nil, 6: comm.ErrShort} {
		run(t, 2, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
			if c.Rank() == 0 {
				return coll.Bcast(ctx, c, make([]int, 5), 0)
			}
			if err := coll.Bcast(ctx, c, make([]int, n), 0); !errors.Is(err, want) {
				return fmt.Errorf("5 values into %d: %w, want %w", n, err, want)
			}
			return nil
		})
	}
}

// Ranks that give different element types hear of it, where types are compared.
func TestElementTypes(t *testing.T) {
	run(t, 4, comm.Config{CheckTypes: true}, func(ctx context.Context, c *comm.Comm) error {
		err := coll.Allreduce(ctx, c, []int64{1}, []int64{1}, coll.Sum)
		if err == nil && c.Rank() == 3 {
			err = coll.Allreduce(ctx, c, []float64{1}, []float64{1}, coll.Sum)
		} else if err == nil {
			err = coll.Allreduce(ctx, c, []int64{1}, []int64{1}, coll.Sum)
		}
		if !errors.Is(err, comm.ErrType) {
			return fmt.Errorf("%w, want %w", err, comm.ErrType)
		}
		return c.Barrier(ctx)
	})
}

// waits are calls in which the ranks wait for each other, with messages that leave at
// once and with such that wait for their receivers.
func waits() map[string]func(ctx context.Context, c *comm.Comm) error {
	all := map[string]func(ctx context.Context, c *comm.Comm) error{}
	for _, n := range []int{3, 40_000} {
		add := func(name string, call func(ctx context.Context, c *comm.Comm, in, out []int) error) {
			all[fmt.Sprintf("%s of %d", name, n)] = func(ctx context.Context, c *comm.Comm) error {
				return call(ctx, c, make([]int, n*c.Size()), make([]int, n*c.Size()))
			}
		}
		add("bcast", func(ctx context.Context, c *comm.Comm, in, _ []int) error { return coll.Bcast(ctx, c, in, 0) })
		add("reduce", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Reduce(ctx, c, in, out, 0, coll.Sum)
		})
		add("allreduce", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Allreduce(ctx, c, in, out, coll.Sum)
		})
		add("scan", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Scan(ctx, c, in, out, coll.Sum)
		})
		add("gather", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Gather(ctx, c, in[:n], out, 0)
		})
		add("scatter", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Scatter(ctx, c, in, out[:n], 0)
		})
		add("allgather", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.Allgather(ctx, c, in[:n], out)
		})
		add("alltoall", func(ctx context.Context, c *comm.Comm, in, out []int) error { return coll.Alltoall(ctx, c, in, out) })
		add("reduce-scatter", func(ctx context.Context, c *comm.Comm, in, out []int) error {
			return coll.ReduceScatter(ctx, c, in, out[:n], coll.Sum)
		})
	}
	return all
}

// untilError repeats a call until it fails, with one in between in which all wait for
// all: a rank whose part is over before hears of what went wrong there.
func untilError(ctx context.Context, c *comm.Comm, call func(context.Context, *comm.Comm) error) error {
	for range 1000 {
		if err := call(ctx, c); err != nil {
			return err
		}
		if err := coll.Allreduce(ctx, c, []int{1}, []int{1}, coll.Sum); err != nil {
			return err
		}
	}
	return errors.New("it didn't fail")
}

// The context of one rank ends: the calls of all others fail, and say so.
func TestContextEnds(t *testing.T) {
	for name, call := range waits() {
		t.Run(name, func(t *testing.T) {
			run(t, 6, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 5 {
					ended, stop := context.WithCancel(ctx)
					stop()
					if err := untilError(ended, c, call); !errors.Is(err, context.Canceled) {
						return fmt.Errorf("%w, want %v", err, context.Canceled)
					}
					return c.Barrier(ctx)
				}
				err := untilError(ctx, c, call)
				var remote *coll.RemoteError
				if !errors.Is(err, context.Canceled) || !errors.As(err, &remote) || ctx.Err() != nil {
					return fmt.Errorf("%w, want %v of another rank", err, context.Canceled)
				}
				return c.Barrier(ctx)
			})
		})
	}
}

// A rank dies: the calls of all others fail, with its number, and no context has to end
// for that.
func TestDeath(t *testing.T) {
	const n, dying = 6, 2
	for name, call := range waits() {
		t.Run(name, func(t *testing.T) {
			var failed sync.WaitGroup // so that nobody's end is taken for the cause
			failed.Add(n - 1)
			runDying(t, n, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				if c.Rank() == dying {
					return errors.New("it dies")
				}
				err := untilError(ctx, c, call)
				var gone *comm.PeerError
				if !errors.As(err, &gone) || gone.Rank != dying || ctx.Err() != nil {
					t.Errorf("rank %d: %v, want the death of rank %d", c.Rank(), err, dying)
				}
				failed.Done()
				failed.Wait()
				return nil
			})
		})
	}
}

// A rank that has its part of a long message and ends doesn't fail the root, which goes on.
func TestEarlyEnd(t *testing.T) {
	const n = 1 << 20
	run(t, 3, comm.Config{EagerLimit: -1}, func(ctx context.Context, c *comm.Comm) error {
		in, out := make([]byte, 3*n), make([]byte, n)
		switch c.Rank() {
		case 0:
			return coll.Scatter(ctx, c, in, out, 0)
		case 2: // comes when rank 1 is in Close
			_, err := comm.Recv(ctx, c, out[:1], 1, 0)
			if !errors.Is(err, comm.ErrFinished) {
				return fmt.Errorf("%w, want %v", err, comm.ErrFinished)
			}
		}
		return coll.Scatter(ctx, c, nil, out, 0)
	})
}
