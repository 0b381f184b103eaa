package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

// Rule 15, and 13 for it.
var layouts = []behaviour{
	{"Column", sendColumn, recvShorter},
	{"IntoColumn", sendShorter, recvColumn},
	{"Indexed", sendColumn, recvBackwards},
	{"Subarray", sendSubarray, recvColumn},
	{"LayoutTruncation", sendColumn, recvLessColumn},
}

// apart is how far the elements of a column are from each other.
const apart = 3

// sendWith sends the elements of b that the layout describes, which are message 0.
func (x *exchange) sendWith(ctx context.Context, b []byte, l *comm.Layout) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, b, x.peer, 4, l) }); err != nil {
		return err
	}
	return waited(ctx, r)
}

func sendColumn(ctx context.Context, x *exchange) error {
	n := x.bytes()
	b := x.memory(apart * n)
	for i, v := range x.message(0, n) {
		b[apart*i] = v
	}
	return x.sendWith(ctx, b, comm.Strided(n, 1, apart))
}

// sendSubarray sends the inner two rows of four, or the one of three, without their
// first and last columns.
func sendSubarray(ctx context.Context, x *exchange) error {
	n := x.bytes()
	rows := 1 + (n+1)%2
	wide := n/rows + 2
	l, err := comm.Subarray([]int{rows + 2, wide}, []int{1, 1}, []int{rows, wide - 2})
	if err != nil {
		return err
	}
	b := x.memory((rows + 2) * wide)
	for i, v := range x.message(0, n) {
		row, column := i/(wide-2), i%(wide-2)
		b[(row+1)*wide+column+1] = v
	}
	return x.sendWith(ctx, b, l)
}

// recvInto receives message 0 into a room with a layout of n elements, of which at says
// where they are. Nothing else may be written.
func (x *exchange) recvInto(ctx context.Context, n, extent int, l *comm.Layout, at func(i int) int) error {
	all, room := x.room(extent)
	var r comm.Request
	if err := x.post(ctx, func() { r = comm.Irecv(x.c, room, x.peer, 4, l) }); err != nil {
		return err
	}
	s, err := r.Wait(ctx)
	if n < x.bytes() {
		if !errors.Is(err, comm.ErrTruncated) {
			return fmt.Errorf("a message of %d into a layout of %d: %w", x.bytes(), n, err)
		}
		err = nil
	}
	if err != nil {
		return err
	}
	got := make([]byte, n)
	for i := range got {
		got[i] = room[at(i)]
		room[at(i)] = untouched
	}
	return errors.Join(x.is(s, 4, x.bytes()), same(got, 0), beyond(all, room, 0))
}

func recvColumn(ctx context.Context, x *exchange) error {
	n := x.bytes()
	return x.recvInto(ctx, n, apart*n, comm.Strided(n, 1, apart), func(i int) int { return apart * i })
}

// recvLessColumn has room for some of the elements only.
func recvLessColumn(ctx context.Context, x *exchange) error {
	n := x.bytes() - x.bytes()/3 - 1
	return x.recvInto(ctx, n, apart*x.bytes(), comm.Strided(n, 1, apart), func(i int) int { return apart * i })
}

// recvBackwards has the elements in the opposite order, two apart.
func recvBackwards(ctx context.Context, x *exchange) error {
	n := x.bytes()
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = 2 * (n - 1 - i)
	}
	l, err := comm.Indexed(1, offsets)
	if err != nil {
		return err
	}
	return x.recvInto(ctx, n, 2*n, l, func(i int) int { return offsets[i] })
}
