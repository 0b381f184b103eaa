package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

// Rule 8; and 5, for synchronous sends without a byte. The standard mode is among data.
var modes = []behaviour{
	{"Sync", sendSync, recvSync},
	{"SyncEmpty", sendSyncEmpty, recvSyncEmpty},
	{"Buffered", sendBuffered, recvInOrderOfTags},
	{"Ready", sendReady, recvShorter},
	{"BadMode", sendBadMode, recvBadMode},
}

// Rule 8: a synchronous send completes only when it was matched.
func sendSync(ctx context.Context, x *exchange) error { return x.sendSync(ctx, x.bytes()) }
func recvSync(ctx context.Context, x *exchange) error { return x.recvSync(ctx, x.bytes()) }

func sendSyncEmpty(ctx context.Context, x *exchange) error { return x.sendSync(ctx, 0) }
func recvSyncEmpty(ctx context.Context, x *exchange) error { return x.recvSync(ctx, 0) }

func (x *exchange) sendSync(ctx context.Context, n int) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, x.message(0, n), x.peer, 4, comm.Sync) }); err != nil {
		return err
	}
	if x.order == unexpected {
		for range 200 {
			if _, done, err := r.Test(); done {
				return fmt.Errorf("it is complete before a receive was posted: %w", err)
			}
		}
		if err := x.checked.set(); err != nil {
			return err
		}
	}
	return waited(ctx, r)
}

func (x *exchange) recvSync(ctx context.Context, n int) error {
	all, room := x.room(n)
	var r comm.Request
	if x.order == unexpected {
		if err := x.checked.await(ctx, x.fail); err != nil {
			return err
		}
	}
	if err := x.post(ctx, func() { r = comm.Irecv(x.c, room, x.peer, 4) }); err != nil {
		return err
	}
	s, err := r.Wait(ctx)
	if err == nil {
		err = errors.Join(x.is(s, 4, n), same(room, 0), beyond(all, room, n))
	}
	return err
}

// Rule 8: a buffered send is over when it returns, whether or not there is a receive.
func sendBuffered(ctx context.Context, x *exchange) error {
	var failed error
	if err := x.start(ctx, func() {
		for i := range 5 {
			b := x.message(i, x.bytes())
			failed = errors.Join(failed, comm.Send(ctx, x.c, b, x.peer, i, comm.Buffered))
			fill(b, 200)
		}
	}); err != nil {
		return err
	}
	return failed
}

// Rule 8: a ready send may be a standard one.
func sendReady(ctx context.Context, x *exchange) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, x.message(0, x.bytes()), x.peer, 4, comm.ReadyMode) }); err != nil {
		return err
	}
	return waited(ctx, r)
}

// Options that don't fit are errors, and have no effect.
func sendBadMode(ctx context.Context, x *exchange) error {
	b := x.message(0, x.bytes())
	if err := comm.Send(ctx, x.c, b, x.peer, 4, comm.Sync, comm.ReadyMode); !errors.Is(err, comm.ErrOption) {
		return fmt.Errorf("two modes: %w", err)
	}
	return nil
}

func recvBadMode(ctx context.Context, x *exchange) error {
	all, room := x.room(x.bytes())
	if _, err := comm.Recv(ctx, x.c, room, x.peer, 4, comm.Sync); !errors.Is(err, comm.ErrOption) {
		return fmt.Errorf("a mode of a receive: %w", err)
	}
	return beyond(all, room, 0)
}
