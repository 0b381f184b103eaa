package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/verbena-mpi/verbena/comm"
)

// Rule 4.
var probing = []behaviour{
	{"Probe", sendThreeTags, recvProbed},
	{"Iprobe", sendThreeTags, recvIprobed},
	{"Mprobe", sendThreeTags, recvMprobed},
	{"Improbe", sendThreeTags, recvImprobed},
	{"MprobeShares", sendShared, recvShared},
	{"RecvAppend", sendThreeTags, recvAppended},
}

// A probe says what the next receive gets, and leaves it where it is.
func recvProbed(ctx context.Context, x *exchange) error {
	var probed comm.Status
	wait := func() error { return nil }
	if err := x.post(ctx, func() {
		wait = later(func() (err error) {
			probed, err = x.c.Probe(ctx, x.peer, comm.AnyTag)
			return err
		})
	}); err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	if err := x.is(probed, 10, x.bytes()); err != nil {
		return err
	}
	return x.recvAll(ctx)
}

// recvAll receives the three messages.
func (x *exchange) recvAll(ctx context.Context) error {
	for i := range 3 {
		b := x.memory(x.bytes())
		s, err := comm.Recv(ctx, x.c, b, x.peer, 10+i)
		if err == nil {
			err = errors.Join(x.is(s, 10+i, x.bytes()), same(b, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A probe that doesn't wait moves messages along.
func recvIprobed(ctx context.Context, x *exchange) error {
	if err := x.post(ctx, func() {}); err != nil {
		return err
	}
	for {
		s, there, err := x.c.Iprobe(comm.AnySource, 12)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if there {
			if err := x.is(s, 12, x.bytes()); err != nil {
				return err
			}
			return x.recvAll(ctx)
		}
		runtime.Gosched()
	}
}

// A matched probe takes the message: no receive gets it any more.
func recvMprobed(ctx context.Context, x *exchange) error {
	var m *comm.Message
	wait := func() error { return nil }
	if err := x.post(ctx, func() {
		wait = later(func() (err error) {
			m, err = x.c.Mprobe(ctx, comm.AnySource, comm.AnyTag)
			return err
		})
	}); err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	return x.recvTaken(ctx, m)
}

// recvTaken receives the second message, then the first one, which was taken, and the
// third.
func (x *exchange) recvTaken(ctx context.Context, m *comm.Message) error {
	if err := x.is(m.Status(), 10, x.bytes()); err != nil {
		return err
	}
	for _, i := range []int{1, 0, 2} {
		b := x.memory(x.bytes())
		var s comm.Status
		var err error
		if i == 0 {
			s, err = comm.RecvMessage(ctx, m, b)
		} else {
			s, err = comm.Recv(ctx, x.c, b, x.peer, comm.AnyTag)
		}
		if err == nil {
			err = errors.Join(x.is(s, 10+i, x.bytes()), same(b, i))
		}
		if err != nil {
			return err
		}
	}
	if _, err := comm.RecvMessage(ctx, m, x.memory(1)); !errors.Is(err, comm.ErrDone) {
		return fmt.Errorf("a second RecvMessage: %w", err)
	}
	return nil
}

func recvImprobed(ctx context.Context, x *exchange) error {
	if err := x.post(ctx, func() {}); err != nil {
		return err
	}
	for {
		m, there, err := x.c.Improbe(x.peer, comm.AnyTag)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if there {
			return x.recvTaken(ctx, m)
		}
		runtime.Gosched()
	}
}

const shared = 24

func sendShared(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for i := range shared {
			reqs = append(reqs, comm.Isend(x.c, x.message(i, x.bytes()), x.peer, i))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

// A matched message is taken by exactly one goroutine.
func recvShared(ctx context.Context, x *exchange) error {
	const takers = 4
	got := make(chan int, shared)
	var waits []func() error
	if err := x.post(ctx, func() {
		for range takers {
			waits = append(waits, later(func() error {
				for range shared / takers {
					m, err := x.c.Mprobe(ctx, comm.AnySource, comm.AnyTag)
					if err != nil {
						return err
					}
					b := x.memory(int(m.Status().Bytes))
					s, err := comm.RecvMessage(ctx, m, b)
					if err == nil {
						err = errors.Join(x.is(s, m.Status().Tag, x.bytes()), same(b, s.Tag))
					}
					if err != nil {
						return err
					}
					got <- s.Tag
				}
				return nil
			}))
		}
	}); err != nil {
		return err
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			return err
		}
	}
	seen := map[int]bool{}
	for range shared {
		seen[<-got] = true
	}
	if len(seen) != shared {
		return fmt.Errorf("%d messages of %d were received", len(seen), shared)
	}
	return nil
}

// A receive into a slice that grows as the message needs it.
func recvAppended(ctx context.Context, x *exchange) error {
	var b []byte
	var s comm.Status
	wait := func() error { return nil }
	if err := x.post(ctx, func() {
		wait = later(func() (err error) {
			b, s, err = comm.RecvAppend(ctx, x.c, []byte{1, 2, 3}, x.peer, 10)
			return err
		})
	}); err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	if len(b) != 3+x.bytes() || b[0] != 1 || b[2] != 3 {
		return fmt.Errorf("%d bytes, which begin with %v", len(b), b[:3])
	}
	if err := errors.Join(x.is(s, 10, x.bytes()), same(b[3:], 0)); err != nil {
		return err
	}
	for i := 1; i < 3; i++ {
		b, s, err := comm.RecvAppend[byte](ctx, x.c, nil, comm.AnySource, 10+i)
		if err == nil {
			err = errors.Join(x.is(s, 10+i, x.bytes()), same(b, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
