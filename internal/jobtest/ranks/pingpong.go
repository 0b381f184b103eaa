package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// pingpong: each rank and its neighbour (0 and 1, 2 and 3, …) send a message to
// and fro.
func pingpong(ctx context.Context, c *comm.Comm, args []string) error {
	n, size := 0, 0
	err := parse(args, func(f *flag.FlagSet) {
		f.IntVar(&n, "n", 1000, "round trips")
		f.IntVar(&size, "size", 8, "bytes of a message, at least 8")
	})
	if err != nil {
		return err
	}
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return c.Barrier(ctx)
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	start := time.Now()
	out, in := make([]byte, size), make([]byte, size)
	for i := range n {
		if err := swing(ctx, c, out, in, peer, uint64(i)); err != nil {
			return err
		}
	}
	took := time.Since(start)
	if c.Rank()%2 == 0 {
		fmt.Printf("pair %d: %d round trips of %d B in %v, %.2f us one way\n",
			c.Rank()/2, n, size, took.Round(time.Millisecond), float64(took.Nanoseconds())/float64(2*n)/1e3)
	}
	return c.Barrier(ctx)
}

// swing is one round trip; the odd rank of the pair answers.
func swing(ctx context.Context, c *comm.Comm, out, in []byte, peer int, i uint64) error {
	const tag = 5
	binary.LittleEndian.PutUint64(out, i<<8|uint64(c.Rank()))
	if c.Rank()%2 == 0 {
		if err := comm.Send(ctx, c, out, peer, tag); err != nil {
			return err
		}
	}
	if _, err := comm.Recv(ctx, c, in, peer, tag); err != nil {
		return err
	}
	if got, want := binary.LittleEndian.Uint64(in), i<<8|uint64(peer); got != want {
		return fmt.Errorf("rank %d: round trip %d: got %#x, expected %#x", c.Rank(), i, got, want)
	}
	if c.Rank()%2 == 1 {
		return comm.Send(ctx, c, out, peer, tag)
	}
	return nil
}
