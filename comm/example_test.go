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

// A message of unknown length is appended to a slice, which grows as it must.
func ExampleRecvAppend() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		for _, words := range []string{"of ", "any length"} {
			if err := comm.Send(ctx, c, []byte(words), c.Rank(), 0); err != nil {
				return err
			}
		}
		var text []byte
		for range 2 {
			var err error
			if text, _, err = comm.RecvAppend(ctx, c, text, comm.AnySource, 0); err != nil {
				return err
			}
		}
		fmt.Printf("%s\n", text)
		return nil
	})
	// Output: of any length
}

// Goroutines that receive from the same source use a matched probe: whoever finds
// a message receives it, in a buffer of its length.
func ExampleComm_Mprobe() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		if err := comm.Send(ctx, c, []float64{3, 1, 4}, c.Rank(), 7); err != nil {
			return err
		}
		m, err := c.Mprobe(ctx, comm.AnySource, comm.AnyTag)
		if err != nil {
			return err
		}
		n, err := comm.Count[float64](m.Status())
		if err != nil {
			return err
		}
		buf := make([]float64, n)
		if _, err := comm.RecvMessage(ctx, m, buf); err != nil {
			return err
		}
		fmt.Println(buf, "with tag", m.Status().Tag)
		return nil
	})
	// Output: [3 1 4] with tag 7
}

// Single values need no slice.
func ExampleSendOne() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		if err := comm.SendOne(ctx, c, 2.5, c.Rank(), 0); err != nil {
			return err
		}
		v, _, err := comm.RecvOne[float64](ctx, c, c.Rank(), 0)
		fmt.Println(v)
		return err
	})
	// Output: 2.5
}

// Every rank passes its value on to the right, in place: no order of sends and
// receives has to be thought of.
func ExampleSendrecvReplace() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		value := []int{10 + c.Rank()}
		_, err := comm.SendrecvReplace(ctx, c, value, right, 0, left, 0)
		fmt.Println(value)
		return err
	})
	// Output: [10]
}

// Requests are handled in the order in which they complete.
func ExampleCompleted() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		buf := make([]int32, 3)
		requests := make([]comm.Request, len(buf))
		for i := range buf {
			requests[i] = comm.Irecv(c, buf[i:i+1], c.Rank(), i)
		}
		for i := range buf {
			if err := comm.SendOne(ctx, c, int32(i*i), c.Rank(), i); err != nil {
				return err
			}
		}
		for i, result := range comm.Completed(ctx, requests) {
			if result.Err != nil {
				return result.Err
			}
			fmt.Println(i, buf[i])
		}
		return nil
	})
	// Unordered output:
	// 0 0
	// 1 1
	// 2 4
}

// With WaitAny a request that is over is replaced by the next one.
func ExampleWaitAny() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		buf := make([]int, 2)
		requests := []comm.Request{comm.Irecv(c, buf[:1], c.Rank(), 0), comm.Irecv(c, buf[1:], c.Rank(), 0)}
		sum := 0
		for v := range 6 {
			if err := comm.SendOne(ctx, c, v, c.Rank(), 0); err != nil {
				return err
			}
			i, _, err := comm.WaitAny(ctx, requests)
			if err != nil {
				return err
			}
			sum += buf[i]
			if v < 4 {
				requests[i] = comm.Irecv(c, buf[i:i+1], c.Rank(), 0)
			}
		}
		i, _, err := comm.WaitAny(ctx, requests) // none is active any more
		fmt.Println(sum, i)
		return err
	})
	// Output: 15 -1
}

// A library sends on a communicator of its own: its messages and the program's
// can't meet, though they have one tag.
func ExampleComm_Dup() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		own, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		if err := comm.SendOne(ctx, c, 1, c.Rank(), 0); err != nil {
			return err
		}
		if err := comm.SendOne(ctx, own, 2, c.Rank(), 0); err != nil {
			return err
		}
		theirs, _, err := comm.RecvOne[int](ctx, own, comm.AnySource, comm.AnyTag)
		if err != nil {
			return err
		}
		mine, _, err := comm.RecvOne[int](ctx, c, comm.AnySource, comm.AnyTag)
		if err != nil {
			return err
		}
		fmt.Println(mine, theirs)
		return own.Free()
	})
	// Output: 1 2
}

// A column of a matrix is described once, and sent and received where it lies. Here it
// goes to the left edge of a wider matrix; under verbrun -n 2, to the other rank's.
func ExampleStrided() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		const rows = 3
		from := []float64{
			1, 2, 3,
			4, 5, 6,
			7, 8, 9,
		}
		into := make([]float64, rows*4)
		to := (c.Rank() + 1) % c.Size()
		// Column 2 of three, column 0 of four: slicing says where the layout begins.
		if _, err := comm.Sendrecv(
			ctx, c, from[2:], to, 7, into, comm.AnySource, 7,
			comm.Strided(rows, 1, 3), comm.Strided(rows, 1, 4),
		); err != nil {
			return err
		}
		for i := range rows {
			fmt.Println(into[4*i : 4*i+4])
		}
		return nil
	})
	// Output:
	// [3 0 0 0]
	// [6 0 0 0]
	// [9 0 0 0]
}

// A part of an array in any number of dimensions; the other side may have it in another
// shape, or side by side.
func ExampleSubarray() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		board := []byte("abcdefghijklmnop") // four rows of four
		corner, err := comm.Subarray([]int{4, 4}, []int{2, 2}, []int{2, 2})
		if err != nil {
			return err
		}
		if err := comm.Send(ctx, c, board, c.Rank(), 0, corner); err != nil {
			return err
		}
		got := make([]byte, 4)
		if _, err := comm.Recv(ctx, c, got, c.Rank(), 0); err != nil {
			return err
		}
		fmt.Printf("%s\n", got)
		return nil
	})
	// Output: klop
}
