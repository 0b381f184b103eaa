package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/verbena-mpi/verbena/comm"
)

// survive: the last rank ends in the way that the argument says, after a message
// to each rank of even number; the others hear of it, all of them, and go on.
func survive(ctx context.Context, c *comm.Comm, args []string) error {
	how, last := args[0], c.Size()-1
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	if c.Rank() == last {
		for r := 0; r < last; r += 2 {
			if err := comm.Send(ctx, c, []int{r}, r, 1); err != nil {
				return err
			}
		}
		return endSo(ctx, c, how)
	}
	want := comm.ErrDied
	if how == "close" {
		want = comm.ErrFinished
	}
	got := make([]int, 1)
	if c.Rank()%2 == 0 {
		if _, err := comm.Recv(ctx, c, got, comm.AnySource, 1); err != nil || got[0] != c.Rank() {
			return fmt.Errorf("its last message: %v: %w", got, err)
		}
	}
	source := comm.AnySource // which nobody needs a connection for
	if how == "close" {
		source = last
	}
	if _, err := comm.Recv(ctx, c, got, source, 1); !gone(err, last, want) {
		return fmt.Errorf("a receive that only rank %d could answer: %w", last, err)
	}
	next, before := (c.Rank()+1)%last, (c.Rank()+last-1)%last
	for i := range 100 {
		if err := comm.Send(ctx, c, []int{i}, next, 2); err != nil {
			return err
		}
		if _, err := comm.Recv(ctx, c, got, before, 2); err != nil || got[0] != i {
			return fmt.Errorf("among those left: %v: %w", got, err)
		}
	}
	if _, err := comm.Recv(ctx, c, got, last, 3); !gone(err, last, want) {
		return fmt.Errorf("a later receive: %w", err)
	}
	if err := comm.Send(ctx, c, make([]int, 100_000), last, 3); !gone(err, last, want) {
		return fmt.Errorf("a later send: %w", err)
	}
	fmt.Println("survived")
	return nil
}

func gone(err error, rank int, cause error) bool {
	var p *comm.PeerError
	return errors.As(err, &p) && p.Rank == rank && errors.Is(err, cause)
}

func endSo(ctx context.Context, c *comm.Comm, how string) error {
	switch how {
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return errors.Join(self.Kill(), errors.New("still here"))
	case "panic":
		panic("all is lost")
	case "exit":
		os.Exit(3)
	case "wait": // for an end from outside
		fmt.Println("waiting")
		<-ctx.Done()
		return ctx.Err()
	case "close":
		ctx, cancel := context.WithCancel(ctx)
		cancel() // it doesn't wait for the others
		if err := c.World().Close(ctx); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("closing without the others: %w", err)
		}
		return nil
	}
	return errors.New("no such end")
}
