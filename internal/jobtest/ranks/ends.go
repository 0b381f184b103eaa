package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/verbena-mpi/verbena/comm"
)

// seven is an error with a status of its own.
type seven struct{}

func (seven) Error() string { return "seven is enough" }
func (seven) ExitCode() int { return 7 }

// end: the last rank, or the one that the second argument names, ends in the way that
// the first says, while the others wait for a message of it.
func end(args []string) {
	how := ""
	if len(args) > 0 {
		how = args[0]
	}
	if how == "unclosed" {
		unclosed()
		return
	}
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		last := c.Size() - 1
		if len(args) > 1 {
			if _, err := fmt.Sscan(args[1], &last); err != nil {
				return err
			}
		}
		if c.Rank() != last {
			_, err := comm.Recv(ctx, c, make([]byte, 8), last, 1)
			return err
		}
		fmt.Println("ending")
		switch how {
		case "error":
			return errors.New("nothing works\nand this is why")
		case "status":
			return fmt.Errorf("wrapped: %w", seven{})
		case "silent":
			return silent{}
		case "panic":
			panic("all is lost")
		case "goroutine":
			go func() { panic("all is lost elsewhere") }()
			select {}
		case "nil":
			var n *seven
			use(*n)
		case "map":
			writeTogether()
		case "exit":
			os.Exit(3)
		case "exit0":
			os.Exit(0)
		case "abort":
			c.World().Abort(seven{})
		}
		return errors.New("no such end")
	})
}

// silent has been printed already.
type silent struct{}

func (silent) Error() string { return "" }
func (silent) ExitCode() int { return 9 }

// unclosed: one rank leaves main without closing its world.
func unclosed() {
	ctx := context.Background()
	w, err := comm.Init(ctx, comm.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := w.Comm()
	if err := c.Barrier(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if c.Rank() == c.Size()-1 {
		fmt.Println("ending")
		return
	}
	if err := w.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
