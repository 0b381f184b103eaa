// Command pipeline sends blocks through all ranks, a stage each: while a stage
// works on one block, the next is received and the last is sent. A wait with a
// deadline that passes leaves its request active: the stage looks up, and waits on.
//
//	verbrun -n 4 ./examples/pipeline
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

func main() { comm.Main(run) }

const (
	blocks = 40
	length = 5_000
	tag    = 0

	patience = 5 * time.Millisecond // with one wait
	tooLong  = 30 * time.Second     // for all
)

func run(ctx context.Context, c *comm.Comm) error {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	last := c.Size() - 1
	before, after := comm.ProcNull, comm.ProcNull
	if c.Rank() > 0 {
		before = c.Rank() - 1
	}
	if c.Rank() < last {
		after = c.Rank() + 1
	}
	// In turn: one is received, one is worked on, one is sent.
	var bufs [3][]uint64
	for i := range bufs {
		bufs[i] = make([]uint64, length)
	}
	var sending comm.Request
	receiving := comm.Irecv(c, bufs[0], before, tag)
	for n := range blocks {
		if err := patiently(ctx, receiving); err != nil {
			return fmt.Errorf("block %d: %w", n, err)
		}
		block := bufs[n%3]
		if c.Rank() == 0 {
			fill(block, n)
		}
		if n+1 < blocks {
			receiving = comm.Irecv(c, bufs[(n+1)%3], before, tag)
		}
		stage(block, c.Rank())
		if err := patiently(ctx, sending); err != nil {
			return fmt.Errorf("block %d: %w", n-1, err)
		}
		sending = comm.Isend(c, block, after, tag)
		if c.Rank() == last && !slices.Equal(block, serial(n, c.Size())) {
			return fmt.Errorf("block %d is not what one stage after the other gives", n)
		}
	}
	if err := patiently(ctx, sending); err != nil {
		return err
	}
	if c.Rank() == last {
		fmt.Printf("%d blocks through %d stages\n", blocks, c.Size())
	}
	return nil
}

// patiently waits for a request, a little at a time, until ctx ends.
func patiently(ctx context.Context, r comm.Request) error {
	for {
		short, cancel := context.WithTimeout(ctx, patience)
		_, err := r.Wait(short)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
		// Here a program would see to other things: the request goes on.
	}
}

func fill(block []uint64, n int) {
	for i := range block {
		block[i] = uint64(n*length + i)
	}
}

// stage is a stage's work: each gives something else.
func stage(block []uint64, rank int) {
	for i, v := range block {
		block[i] = v*6364136223846793005 + uint64(rank) + v>>33
	}
}

// serial is what a block becomes.
func serial(n, stages int) []uint64 {
	block := make([]uint64, length)
	fill(block, n)
	for s := range stages {
		stage(block, s)
	}
	return block
}
