package comm_test

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

// A program that was started alone is a world of one rank. It can send to itself;
// under verbrun -n 2 the same code would send to the other rank.
func Example() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		to, from := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		if err := comm.Send(ctx, c, []float64{1.5, 2.5}, to, 7); err != nil {
			return err
		}
		buf := make([]float64, 10)
		status, err := comm.Recv(ctx, c, buf, from, comm.AnyTag)
		if err != nil {
			return err
		}
		n, err := comm.Count[float64](status)
		if err != nil {
			return err
		}
		fmt.Println(buf[:n], "with tag", status.Tag)
		return nil
	})
	// Output: [1.5 2.5] with tag 7
}

// Nonblocking calls return requests, which are waited for together.
func ExampleWaitAll() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		left, right := c.Rank(), c.Rank() // in a world of one
		fromLeft, fromRight := make([]int32, 1), make([]int32, 1)
		if err := comm.WaitAll(
			ctx,
			comm.Irecv(c, fromLeft, left, 0),
			comm.Irecv(c, fromRight, right, 1),
			comm.Isend(c, []int32{10}, right, 0),
			comm.Isend(c, []int32{20}, left, 1),
		); err != nil {
			return err
		}
		fmt.Println(fromLeft, fromRight)
		return nil
	})
	// Output: [10] [20]
}

// A rank that is out of range is an error that says what to do.
func ExampleSend_noNeighbour() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		fmt.Println(comm.Send(ctx, c, []byte("hello"), c.Rank()-1, 0))
		fmt.Println(comm.Send(ctx, c, []byte("hello"), comm.ProcNull, 0))
		return nil
	})
	// Output:
	// comm: rank 0: Send(peer -1, tag 0, 5 B): no such rank: rank -1 is not in 0..0 (for no neighbour use comm.ProcNull)
	// <nil>
}
