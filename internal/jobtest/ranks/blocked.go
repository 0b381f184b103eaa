package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// blocked: rank 0 does nothing for a while, and the others wait for it, each in
// another call: 1 in Recv, 2 in Recv from any source, 3 in Send of a large
// message, 4 in WaitAll, 5 in Barrier, 6 in two goroutines. Each says how much
// CPU time its process used from just before the call to just after.
func blocked(ctx context.Context, c *comm.Comm, args []string) error {
	const tag, back = 1, 2
	idle := time.Duration(0)
	err := parse(args, func(f *flag.FlagSet) {
		f.DurationVar(&idle, "for", time.Second, "how long rank 0 does nothing")
	})
	if err != nil {
		return err
	}
	// Both sides know each other before the measurement.
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	if c.Rank() == 0 {
		return wake(ctx, c, idle, tag, back)
	}
	wait, ok := map[int]func() error{
		2: func() error { return receive(ctx, c, comm.AnySource, tag) },
		3: func() error { return comm.Send(ctx, c, make([]byte, 1<<20), 0, back) },
		4: func() error {
			a, b := make([]byte, 8), make([]byte, 8)
			return comm.WaitAll(ctx, comm.Irecv(c, a, 0, tag), comm.Irecv(c, b, 0, tag+10))
		},
		5: func() error { return c.Barrier(ctx) },
		6: func() error { return inTwo(func(i int) error { return receive(ctx, c, 0, tag+10*i) }) },
	}[c.Rank()]
	if !ok {
		wait = func() error { return receive(ctx, c, 0, tag) }
	}
	return measured(ctx, c, wait)
}

// wake is rank 0's side of blocked.
func wake(ctx context.Context, c *comm.Comm, idle time.Duration, tag, back int) error {
	timer := time.NewTimer(idle)
	<-timer.C
	for r := 1; r < c.Size(); r++ {
		for _, t := range []int{tag, tag + 10} {
			if r != 5 && r != 3 && (t == tag || r == 4 || r == 6) {
				if err := comm.Send(ctx, c, make([]byte, 8), r, t); err != nil {
					return err
				}
			}
		}
	}
	if c.Size() > 3 {
		if _, err := comm.Recv(ctx, c, make([]byte, 1<<20), 3, back); err != nil {
			return err
		}
	}
	return c.Barrier(ctx) // rank 5 has been waiting for it
}

// measured reports what a wait cost, and meets the others.
func measured(ctx context.Context, c *comm.Comm, wait func() error) error {
	cpu, start := cpuTime(), time.Now()
	err := wait()
	used, took := cpuTime()-cpu, time.Since(start)
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: waited %v, used %v\n", c.Rank(), took, used)
	if c.Rank() == 5 {
		return nil
	}
	return c.Barrier(ctx)
}

func receive(ctx context.Context, c *comm.Comm, from, tag int) error {
	_, err := comm.Recv(ctx, c, make([]byte, 8), from, tag)
	return err
}

// inTwo runs f in two goroutines, and returns an error of either.
func inTwo(f func(i int) error) error {
	errs := make(chan error, 2)
	for i := range 2 {
		go func() { errs <- f(i) }()
	}
	if err := <-errs; err != nil {
		return err
	}
	return <-errs
}
