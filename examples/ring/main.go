// Command ring passes a number once around all ranks: each adds its own rank.
//
//	verbrun -n 4 ./examples/ring
package main

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

func main() { comm.Main(run) }

func run(ctx context.Context, c *comm.Comm) error {
	const tag = 0
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	sum := []int64{0}
	if c.Rank() == 0 {
		if err := comm.Send(ctx, c, sum, right, tag); err != nil {
			return err
		}
	}
	if _, err := comm.Recv(ctx, c, sum, left, tag); err != nil {
		return err
	}
	sum[0] += int64(c.Rank())
	if c.Rank() != 0 {
		return comm.Send(ctx, c, sum, right, tag)
	}
	want := int64(c.Size()*(c.Size()-1)) / 2
	if sum[0] != want {
		return fmt.Errorf("the ranks add up to %d, want %d", sum[0], want)
	}
	fmt.Printf("%d ranks add up to %d\n", c.Size(), sum[0])
	return nil
}
