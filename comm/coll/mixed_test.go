package coll_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

// Messages of the program's, received with wildcards while collectives go on, and those
// of the collectives don't meet.
func TestBesideWildcards(t *testing.T) {
	const rounds, tagEnd = 300, 9999
	run(t, 4, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
		var wg sync.WaitGroup
		var got int
		var receiving error
		wg.Go(func() {
			for ends := 0; ends < c.Size(); got++ {
				v, status, err := comm.RecvOne[int](ctx, c, comm.AnySource, comm.AnyTag)
				switch {
				case err != nil:
					receiving = err
					return
				case status.Tag == tagEnd:
					ends++
				case v != status.Source*rounds+status.Tag:
					receiving = fmt.Errorf("%d of rank %d, tag %d", v, status.Source, status.Tag)
					return
				}
			}
		})
		r := rand.New(rand.NewPCG(1, uint64(c.Rank())))
		sum := make([]int, 700)
		for i := range rounds {
			if err := comm.SendOne(ctx, c, c.Rank()*rounds+i, r.IntN(c.Size()), i); err != nil {
				return err
			}
			for j := range sum {
				sum[j] = c.Rank() + i + j
			}
			if err := coll.Allreduce(ctx, c, sum, sum, coll.Sum); err != nil {
				return err
			}
			for j := range sum {
				if want := 6 + 4*(i+j); sum[j] != want {
					return fmt.Errorf("round %d: sum %d is %d, want %d", i, j, sum[j], want)
				}
			}
		}
		for r := range c.Size() {
			if err := comm.SendOne(ctx, c, 0, r, tagEnd); err != nil {
				return err
			}
		}
		wg.Wait()
		if receiving != nil {
			return receiving
		}
		if err := coll.Allreduce(ctx, c, []int{got}, sum[:1], coll.Sum); err != nil {
			return err
		}
		if want := c.Size() * (rounds + c.Size()); sum[0] != want {
			return fmt.Errorf("%d messages were received, not %d", sum[0], want)
		}
		return nil
	})
}

// Ranks that are steps apart, from one call to the next: nobody waits in between, calls
// of all kinds and lengths follow each other, and each rank dawdles as it likes.
func TestAtDifferentSteps(t *testing.T) {
	runPlain(t, 5, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
		all := calls[int64]()
		r := rand.New(rand.NewPCG(3, 3)) // the same on all ranks
		own := rand.New(rand.NewPCG(4, uint64(c.Rank())))
		for i := range 600 {
			one, n := all[r.IntN(len(all))], r.IntN(40)
			if r.IntN(20) == 0 {
				n = r.IntN(4000)
			}
			root, inPlace := r.IntN(c.Size()), r.IntN(2) == 0
			if own.IntN(4) == 0 {
				spin := 0
				for range own.IntN(1 << 16) {
					spin++
				}
			}
			if err := one.run(ctx, c, ints, n, root, inPlace, uint64(i)); err != nil {
				return fmt.Errorf("call %d: %s of %d: %w", i, one.name, n, err)
			}
		}
		return nil
	})
}

// Collectives on the halves of a communicator and on itself, in turns.
func TestSplit(t *testing.T) {
	run(t, 7, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
		half, err := c.Split(ctx, c.Rank()%2, -c.Rank())
		if err != nil {
			return err
		}
		for i := range 5 {
			for _, on := range []*comm.Comm{half, c} {
				if err := check(ctx, on, matrices, 3*i, uint64(1000*i)); err != nil {
					return fmt.Errorf("of %d ranks: %w", on.Size(), err)
				}
			}
		}
		return half.Free()
	})
}

// Goroutines that have a communicator each.
func TestGoroutines(t *testing.T) {
	const n = 4
	run(t, 3, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
		var on [n]*comm.Comm
		for i := range on {
			var err error
			if on[i], err = c.Dup(ctx); err != nil {
				return err
			}
		}
		var wg sync.WaitGroup
		var errs [n]error
		for i := range on {
			wg.Go(func() {
				for j := range 10 {
					if errs[i] == nil {
						errs[i] = check(ctx, on[i], ints, 50*j+i, uint64(10000*i+100*j))
					}
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// A communicator has one rank: every call is a copy, or less.
func TestAlone(t *testing.T) {
	run(t, 1, comm.Config{}, func(ctx context.Context, c *comm.Comm) error {
		return check(ctx, c, elements, 1000, 1)
	})
}
