package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// deadlock: the ranks wait for each other, in the way that the argument says.
func deadlock(ctx context.Context, c *comm.Comm, args []string) error {
	n := c.Size()
	next, before := (c.Rank()+1)%n, (c.Rank()+n-1)%n
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	for range 10 { // so that there is something to count
		if err := comm.Send(ctx, c, []int{1}, next, 1); err != nil {
			return err
		}
		if _, err := comm.Recv(ctx, c, []int{0}, before, 1); err != nil {
			return err
		}
	}
	fmt.Println("waiting")
	buf := make([]int64, 100_000)
	switch args[0] {
	case "recv":
		_, err := comm.Recv(ctx, c, buf[:2], before, 7) // the recv
		return err
	case "send":
		return comm.Send(ctx, c, buf, next, 8) // the send
	case "list":
		lone := comm.Irecv(c, buf[:1], before, 9)
		err := comm.WaitAll(ctx, comm.Irecv(c, buf[1:2], before, 10), comm.Irecv(c, buf[2:3], comm.AnySource, comm.AnyTag)) // the list
		_, werr := lone.Wait(ctx)
		return errors.Join(err, werr)
	case "workers":
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				_, _ = comm.Recv(ctx, c, buf[i:i+1], before, 20+i) // the workers
			})
		}
		wg.Wait()
	case "sleeper": // and then they go on
		if c.Rank() == 0 {
			time.Sleep(4 * time.Second) // the sleeper
			return comm.Send(ctx, c, []int{1}, next, 11)
		}
		if _, err := comm.Recv(ctx, c, []int{0}, before, 11); err != nil { // the others
			return err
		}
		if next != 0 {
			return comm.Send(ctx, c, []int{1}, next, 11)
		}
	case "deadline": // each ends its wait, or hears that another has
		ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
		defer cancel()
		if _, err := comm.Recv(ctx, c, []int{0}, before, 12); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, comm.ErrFinished) {
			return fmt.Errorf("a receive with a deadline: %w", err)
		}
	}
	return nil
}
