// Command farm finds primes: rank 0 gives ranges to whichever rank is free, and
// takes results of any length from any rank. Ranks without work end at once,
// while the others go on.
//
//	verbrun -n 4 ./examples/farm
package main

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

func main() { comm.Main(run) }

const (
	limit  = 100_000
	step   = 2_000
	primes = 9592 // below limit
)

const (
	tagTask = iota
	tagStop
	tagResult
)

func run(ctx context.Context, c *comm.Comm) error {
	if c.Rank() != 0 {
		return work(ctx, c)
	}
	var found []int32
	if c.Size() == 1 {
		found = search(nil, 0, limit)
	} else {
		var err error
		if found, err = manage(ctx, c); err != nil {
			return err
		}
	}
	if len(found) != primes {
		return fmt.Errorf("%d primes below %d, want %d", len(found), limit, primes)
	}
	fmt.Printf("%d primes below %d, by %d ranks\n", len(found), limit, c.Size())
	return nil
}

// manage hands out the ranges: one to each rank, then another for each result,
// until there are no more.
func manage(ctx context.Context, c *comm.Comm) (found []int32, err error) {
	next := int32(0)
	give := func(rank int) error {
		if next >= limit {
			return comm.Send(ctx, c, []int32(nil), rank, tagStop)
		}
		err := comm.SendOne(ctx, c, next, rank, tagTask)
		next += step
		return err
	}
	for r := 1; r < c.Size(); r++ {
		if err := give(r); err != nil {
			return nil, err
		}
	}
	for range (limit + step - 1) / step {
		var s comm.Status
		if found, s, err = comm.RecvAppend(ctx, c, found, comm.AnySource, tagResult); err != nil {
			return nil, err
		}
		if err := give(s.Source); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// work does what it is given until it is told to stop.
func work(ctx context.Context, c *comm.Comm) error {
	from := make([]int32, 1)
	var found []int32
	for {
		s, err := comm.Recv(ctx, c, from, 0, comm.AnyTag)
		if err != nil || s.Tag == tagStop {
			return err
		}
		found = search(found[:0], from[0], min(from[0]+step, limit))
		if err := comm.Send(ctx, c, found, 0, tagResult); err != nil {
			return err
		}
	}
}

// search appends the primes from low to below high.
func search(found []int32, low, high int32) []int32 {
numbers:
	for n := max(low, 2); n < high; n++ {
		for d := int32(2); d*d <= n; d++ {
			if n%d == 0 {
				continue numbers
			}
		}
		found = append(found, n)
	}
	return found
}
