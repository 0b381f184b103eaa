package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/verbena-mpi/verbena/comm"
)

// Rules 11, 12, 25.
var requests = []behaviour{
	{"WaitAny", sendShared, recvAny},
	{"WaitSome", sendShared, recvSome},
	{"TestAll", sendShared, recvTested},
	{"Completed", sendShared, recvCompleted},
	{"WaitTwice", sendShorter, recvTwice},
	{"CancelReceive", sendAfterCancel, recvCanceled},
	{"CancelSend", sendCanceled, recvPerhaps},
	{"EndedContext", sendAfterContext, recvWithEndedContext},
	{"Goroutines", sendFromMany, recvByMany},
}

// recvEach posts a receive for each of the shared messages, and has finish wait for
// them. It says by got which are complete.
func (x *exchange) recvEach(ctx context.Context, finish func(reqs []comm.Request, got func(i int, s comm.Status) error) error) error {
	bufs := make([][]byte, shared)
	reqs := make([]comm.Request, shared)
	if err := x.post(ctx, func() {
		for i := range reqs {
			bufs[i] = x.memory(x.bytes())
			reqs[i] = comm.Irecv(x.c, bufs[i], x.peer, i)
		}
	}); err != nil {
		return err
	}
	seen := map[int]bool{}
	if err := finish(reqs, func(i int, s comm.Status) error {
		if seen[i] {
			return fmt.Errorf("request %d twice", i)
		}
		seen[i] = true
		return errors.Join(x.is(s, i, x.bytes()), same(bufs[i], i))
	}); err != nil {
		return err
	}
	if len(seen) != shared {
		return fmt.Errorf("%d requests of %d are complete", len(seen), shared)
	}
	return nil
}

// expected is the status of shared message i, where a call doesn't give one.
func (x *exchange) expected(i int) comm.Status {
	return comm.Status{Source: x.peer, Tag: i, Bytes: int64(x.bytes())}
}

// Rule 11: WaitAny clears what it returns, and says -1 when nothing is left.
func recvAny(ctx context.Context, x *exchange) error {
	return x.recvEach(ctx, func(reqs []comm.Request, got func(int, comm.Status) error) error {
		for {
			i, s, err := comm.WaitAny(ctx, reqs)
			if err != nil || i < 0 {
				return err
			}
			if err := got(i, s); err != nil {
				return err
			}
		}
	})
}

// Rule 11: WaitSome returns at least one, and each once.
func recvSome(ctx context.Context, x *exchange) error {
	return x.recvEach(ctx, func(reqs []comm.Request, got func(int, comm.Status) error) error {
		indices := make([]int, len(reqs))
		for {
			n, err := comm.WaitSome(ctx, reqs, indices)
			if err != nil || n < 0 {
				return err
			}
			if n == 0 {
				return errors.New("none")
			}
			for _, i := range indices[:n] {
				if err := got(i, x.expected(i)); err != nil {
					return err
				}
			}
		}
	})
}

func recvTested(ctx context.Context, x *exchange) error {
	return x.recvEach(ctx, func(reqs []comm.Request, got func(int, comm.Status) error) error {
		for {
			done, err := comm.TestAll(reqs...)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if done {
				break
			}
			runtime.Gosched()
		}
		for i := range reqs {
			if err := got(i, x.expected(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func recvCompleted(ctx context.Context, x *exchange) error {
	return x.recvEach(ctx, func(reqs []comm.Request, got func(int, comm.Status) error) error {
		for i, r := range comm.Completed(ctx, reqs) {
			if r.Err != nil {
				return r.Err
			}
			if err := got(i, r.Status); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rule 11: waiting twice is an error, and no hang.
func recvTwice(ctx context.Context, x *exchange) error {
	b := x.memory(x.bytes())
	var r comm.Request
	if err := x.post(ctx, func() { r = comm.Irecv(x.c, b, x.peer, 4) }); err != nil {
		return err
	}
	if err := waited(ctx, r); err != nil {
		return err
	}
	if err := waited(ctx, r); !errors.Is(err, comm.ErrDone) {
		return fmt.Errorf("a second Wait: %w", err)
	}
	if _, done, err := r.Test(); !done || !errors.Is(err, comm.ErrDone) {
		return fmt.Errorf("Test after Wait: %v, %w", done, err)
	}
	return same(b, 0)
}

func sendAfterCancel(ctx context.Context, x *exchange) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, x.message(0, x.bytes()), x.peer, 9) }); err != nil {
		return err
	}
	return waited(ctx, r)
}

// Rule 12: a canceled receive is withdrawn, and the message goes to the next one, or it
// completes: never both, never neither.
func recvCanceled(ctx context.Context, x *exchange) error {
	all, room := x.room(x.bytes())
	next := x.memory(x.bytes())
	var first, second comm.Request
	if err := x.post(ctx, func() {
		first = comm.Irecv(x.c, room, x.peer, 9)
		second = comm.Irecv(x.c, next, x.peer, 9)
		first.Cancel()
	}); err != nil {
		return err
	}
	_, err := first.Wait(ctx)
	if err == nil { // it had matched
		second.Cancel()
		if err := waited(ctx, second); !errors.Is(err, comm.ErrCanceled) {
			return fmt.Errorf("a receive without a message: %w", err)
		}
		return same(room, 0)
	}
	if !errors.Is(err, comm.ErrCanceled) {
		return err
	}
	if x.order == unexpected {
		return errors.New("a receive was canceled whose message was there before")
	}
	if err := waited(ctx, second); err != nil {
		return err
	}
	return errors.Join(same(next, 0), beyond(all, room, 0))
}

// Rule 12: a canceled send is withdrawn, or it completes; Wait returns.
func sendCanceled(ctx context.Context, x *exchange) error {
	var first, second comm.Request
	withdrawn := []byte{0}
	if err := x.start(ctx, func() {
		first = comm.Isend(x.c, x.message(0, x.bytes()), x.peer, 9)
		first.Cancel()
		switch err := waited(ctx, first); {
		case errors.Is(err, comm.ErrCanceled):
			withdrawn[0] = 1
		case err != nil:
			withdrawn[0] = 2
		}
		second = comm.Isend(x.c, withdrawn, x.peer, 10)
	}); err != nil {
		return err
	}
	return waited(ctx, second)
}

func recvPerhaps(ctx context.Context, x *exchange) error {
	b := x.memory(x.bytes())
	withdrawn := []byte{9}
	var first, second comm.Request
	if err := x.post(ctx, func() {
		first = comm.Irecv(x.c, b, x.peer, 9)
		second = comm.Irecv(x.c, withdrawn, x.peer, 10)
	}); err != nil {
		return err
	}
	if err := waited(ctx, second); err != nil {
		return err
	}
	switch withdrawn[0] {
	case 0:
		if err := waited(ctx, first); err != nil {
			return err
		}
		return same(b, 0)
	case 1:
		first.Cancel()
		if err := waited(ctx, first); !errors.Is(err, comm.ErrCanceled) {
			return fmt.Errorf("a receive whose message was withdrawn: %w", err)
		}
		return nil
	}
	return errors.New("the send failed")
}

func sendAfterContext(ctx context.Context, x *exchange) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, x.message(0, x.bytes()), x.peer, 9) }); err != nil {
		return err
	}
	return waited(ctx, r)
}

// Rule 12: a context's error means that nothing was received.
func recvWithEndedContext(ctx context.Context, x *exchange) error {
	all, room := x.room(x.bytes())
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := comm.Recv(ended, x.c, room, x.peer, 8); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a receive whose context had ended: %w", err)
	}
	if err := beyond(all, room, 0); err != nil {
		return err
	}
	var r comm.Request
	if err := x.post(ctx, func() { r = comm.Irecv(x.c, room, x.peer, 9) }); err != nil {
		return err
	}
	s, err := r.Wait(ended)
	if errors.Is(err, context.Canceled) {
		s, err = r.Wait(ctx) // the request goes on
	}
	if err == nil {
		err = errors.Join(x.is(s, 9, x.bytes()), same(room, 0))
	}
	return err
}

const (
	goroutines = 6
	each       = 5
)

// Rule 25: any call from any number of goroutines.
func sendFromMany(ctx context.Context, x *exchange) error {
	return x.inMany(ctx, x.start, func(tag, i int) error {
		return comm.Send(ctx, x.c, x.message(tag*each+i, x.bytes()), x.peer, tag)
	})
}

func recvByMany(ctx context.Context, x *exchange) error {
	return x.inMany(ctx, x.post, func(tag, i int) error {
		b := x.memory(x.bytes())
		s, err := comm.Recv(ctx, x.c, b, comm.AnySource, tag)
		if err != nil {
			return err
		}
		return errors.Join(x.is(s, tag, x.bytes()), same(b, tag*each+i))
	})
}

func (x *exchange) inMany(ctx context.Context, begin func(context.Context, func()) error, call func(tag, i int) error) error {
	var waits []func() error
	if err := begin(ctx, func() {
		for tag := range goroutines {
			waits = append(waits, later(func() error {
				for i := range each {
					if err := call(tag, i); err != nil {
						return fmt.Errorf("tag %d, message %d: %w", tag, i, err)
					}
				}
				return nil
			}))
		}
	}); err != nil {
		return err
	}
	var all error
	for _, wait := range waits {
		all = errors.Join(all, wait())
	}
	return all
}
