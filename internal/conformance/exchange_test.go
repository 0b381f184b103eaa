package conformance

import (
	"context"
	"fmt"
	"runtime"

	"github.com/verbena-mpi/verbena/comm"
)

// exchange is what a side has to do with.
type exchange struct {
	place
	*handshake
	c     *comm.Comm
	apart *comm.Comm // of the same ranks
	peer  int        // the other side, or this rank itself
	side  int        // 0 sends, 1 receives
}

// start sends, in the place's order: begin starts the sends, and doesn't wait for them.
func (x *exchange) start(ctx context.Context, begin func()) error {
	if x.order == posted {
		if err := x.ready.await(ctx, x.fail); err != nil {
			return err
		}
		begin()
		return nil
	}
	begin()
	return x.sent.set()
}

// post receives, in the place's order: begin posts the receives, and doesn't wait for
// them. Where messages come first at least one has arrived before.
func (x *exchange) post(ctx context.Context, begin func()) error {
	if x.order == posted {
		begin()
		return x.ready.set()
	}
	if err := x.sent.await(ctx, x.fail); err != nil {
		return err
	}
	for {
		_, there, err := x.c.Iprobe(comm.AnySource, comm.AnyTag)
		if err == nil {
			err = ctx.Err()
		}
		if there || err != nil {
			begin()
			return err
		}
		runtime.Gosched()
	}
}

// later runs a blocking call beside the caller, and returns what waits for it.
func later(call func() error) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- call() }()
	return func() error { return <-done }
}

// memory is a buffer of n bytes, of the kind that the place asks for.
func (x *exchange) memory(n int) []byte {
	if x.device.alloc {
		return comm.Alloc[byte](x.c, n)
	}
	return make([]byte, n)
}

// message is the content of message number i.
func (x *exchange) message(i, n int) []byte {
	b := x.memory(n)
	fill(b, i)
	return b
}

func fill(b []byte, i int) {
	for k := range b {
		b[k] = byte(i*31 + k*7 + k>>8 + 1)
	}
}

// same checks that b is message number i, from its beginning.
func same(b []byte, i int) error {
	for k := range b {
		if want := byte(i*31 + k*7 + k>>8 + 1); b[k] != want {
			return fmt.Errorf("message %d of %d bytes: byte %d is %d, want %d", i, len(b), k, b[k], want)
		}
	}
	return nil
}

// untouched is what buffers have where no message may write.
const untouched = 0xa5

// room is a buffer of n bytes within a larger one, that is untouched.
func (x *exchange) room(n int) (all, room []byte) {
	const guard = 256
	all = x.memory(n + 2*guard)
	for i := range all {
		all[i] = untouched
	}
	return all, all[guard : guard+n : guard+n]
}

// beyond checks that nothing was written outside the first n bytes of room.
func beyond(all, room []byte, n int) error {
	first := (len(all) - len(room)) / 2
	for i, b := range all {
		if (i < first || i >= first+n) && b != untouched {
			return fmt.Errorf("byte %d of a room of %d, of which %d were received, was written", i-first, len(room), n)
		}
	}
	return nil
}

// is checks a status.
func (x *exchange) is(s comm.Status, tag, n int) error {
	if want := (comm.Status{Source: x.peer, Tag: tag, Bytes: int64(n)}); s != want {
		return fmt.Errorf("status %+v, want %+v", s, want)
	}
	return nil
}
