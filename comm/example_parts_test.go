package comm_test

import (
	"context"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

// Even ranks and odd ones get a communicator each, the last rank first.
func ExampleComm_Split() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		part, err := c.Split(ctx, c.Rank()%2, -c.Rank())
		if err != nil {
			return err
		}
		fmt.Printf("rank %d of %d\n", part.Rank(), part.Size())
		return part.Free()
	})
	// Output: rank 0 of 1
}

// A group is chosen without communication; only its ranks make its communicator.
func ExampleComm_Create() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		first, err := c.Group().RangeIncl(comm.Range{First: 0, Last: c.Size() / 2, Stride: 1})
		if err != nil {
			return err
		}
		if first.Rank() == comm.Undefined {
			return nil
		}
		half, err := c.Create(ctx, first, 0)
		if err != nil {
			return err
		}
		fmt.Println(half.Size(), half.Compare(c))
		return half.Free()
	})
	// Output: 1 Congruent
}

// On a grid with open borders each rank passes its number to the right. Where there is
// no neighbour nothing is sent or received.
func ExampleComm_Cart() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		dims, err := comm.DimsCreate(c.Size(), []int{0, 0})
		if err != nil {
			return err
		}
		grid, err := c.Cart(ctx, dims, []bool{false, false})
		if err != nil {
			return err
		}
		left, right := grid.Shift(1, 1)
		got := []int{-1}
		if _, err := comm.Sendrecv(ctx, grid.Comm, []int{grid.Rank()}, right, 0, got, left, 0); err != nil {
			return err
		}
		fmt.Println(grid.Coords(grid.Rank()), left == comm.ProcNull, got[0])
		return nil
	})
	// Output: [0 0] true -1
}
