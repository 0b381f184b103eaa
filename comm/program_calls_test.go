package comm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
)

// The calls that random programs use: each is one line in a table.

// sendCall sends a message to a rank of c.
type sendCall struct {
	name  string
	waits bool             // it may wait for the receive: that must have been posted
	can   func(n int) bool // which lengths it can send; nil: all
	call  func(s sent1) (Request, error)
}

// sent1 is what a sendCall sends. Whoever the request belongs to ends it.
type sent1 struct {
	ctx     context.Context
	c       *Comm
	body    []byte
	to, tag int
}

var sendCalls = []sendCall{
	{"Isend", false, nil, func(s sent1) (Request, error) { return Isend(s.c, s.body, s.to, s.tag), nil }},
	{"Isend Sync", false, nil, func(s sent1) (Request, error) { return Isend(s.c, s.body, s.to, s.tag, Sync), nil }},
	{"Isend Buffered", false, atMost(2000), func(s sent1) (Request, error) { return Isend(s.c, s.body, s.to, s.tag, Buffered), nil }},
	{"Isend Strided", false, atLeast(1), func(s sent1) (Request, error) { return isendStrided(s), nil }},
	{"Isend, canceled", false, nil, isendCanceled},
	{"SendInit", false, nil, func(s sent1) (Request, error) { return SendInit(s.c, s.body, s.to, s.tag).Start(), nil }},
	{"Send", true, nil, func(s sent1) (Request, error) { return Request{}, Send(s.ctx, s.c, s.body, s.to, s.tag) }},
	{"Send Sync", true, nil, func(s sent1) (Request, error) { return Request{}, Send(s.ctx, s.c, s.body, s.to, s.tag, Sync) }},
	{"Send Buffered", false, atMost(2000), func(s sent1) (Request, error) { return Request{}, Send(s.ctx, s.c, s.body, s.to, s.tag, Buffered) }},
	{"SendOne", true, exactly(8), func(s sent1) (Request, error) { return Request{}, SendOne(s.ctx, s.c, [8]byte(s.body), s.to, s.tag) }},
	{"Sendrecv", true, nil, func(s sent1) (Request, error) { return Request{}, sendrecvOut(s) }},
}

func atMost(most int) func(int) bool   { return func(n int) bool { return n <= most } }
func atLeast(least int) func(int) bool { return func(n int) bool { return n >= least } }
func exactly(this int) func(int) bool  { return func(n int) bool { return n == this } }

// isendStrided sends every other byte of a buffer.
func isendStrided(s sent1) Request {
	spread := make([]byte, 2*len(s.body))
	for i, v := range s.body {
		spread[2*i], spread[2*i+1] = v, 0xdd
	}
	return Isend(s.c, spread, s.to, s.tag, Strided(len(s.body), 1, 2))
}

// isendCanceled gives a send up, and sends again if it was in time.
func isendCanceled(s sent1) (Request, error) {
	r := Isend(s.c, s.body, s.to, s.tag)
	r.Cancel()
	_, err := r.Wait(s.ctx)
	if errors.Is(err, ErrCanceled) {
		return Isend(s.c, s.body, s.to, s.tag), nil
	}
	return Request{}, err
}

// sendrecvOut sends, and receives from nobody.
func sendrecvOut(s sent1) error {
	status, err := Sendrecv(s.ctx, s.c, s.body, s.to, s.tag, []byte(nil), ProcNull, 0)
	if err == nil && status != (Status{Source: ProcNull, Tag: AnyTag}) {
		return fmt.Errorf("Sendrecv from nobody: %+v", status)
	}
	return err
}

// recvCall receives x on c: it starts x.request, or ends x.
type recvCall struct {
	name  string
	waits bool // it waits for the message: whoever sends it must not wait for us
	call  func(ctx context.Context, c *Comm, x *expected) error
}

var recvCalls = []recvCall{
	{"Irecv", false, func(_ context.Context, c *Comm, x *expected) error {
		x.request = Irecv(c, x.buf, x.source, x.tag)
		return nil
	}},
	{"RecvInit", false, func(_ context.Context, c *Comm, x *expected) error {
		x.request = RecvInit(c, x.buf, x.source, x.tag).Start()
		return nil
	}},
	{"Irecv, canceled", false, irecvCanceled},
	{"Recv", true, recv},
	{"Sendrecv", true, func(ctx context.Context, c *Comm, x *expected) error {
		x.status, x.err = Sendrecv(ctx, c, []byte{1}, ProcNull, 0, x.buf, x.source, x.tag)
		return nil
	}},
	{"RecvAppend", true, recvAppend},
	{"Mprobe", true, func(ctx context.Context, c *Comm, x *expected) error {
		m, err := c.Mprobe(ctx, x.source, x.tag)
		return x.receive(ctx, m, err)
	}},
	{"Improbe", true, func(ctx context.Context, c *Comm, x *expected) error {
		var m *Message
		err := again(ctx, func() (found bool, err error) { m, found, err = c.Improbe(x.source, x.tag); return found, err })
		return x.receive(ctx, m, err)
	}},
	{"Probe", true, func(ctx context.Context, c *Comm, x *expected) error {
		s, err := c.Probe(ctx, x.source, x.tag)
		return x.probed(ctx, c, s, err)
	}},
	{"Iprobe", true, func(ctx context.Context, c *Comm, x *expected) error {
		var s Status
		err := again(ctx, func() (found bool, err error) { s, found, err = c.Iprobe(x.source, x.tag); return found, err })
		return x.probed(ctx, c, s, err)
	}},
}

func recv(ctx context.Context, c *Comm, x *expected) error {
	x.status, x.err = Recv(ctx, c, x.buf, x.source, x.tag)
	return nil
}

// irecvCanceled gives a receive up, and posts it again if it was in time.
func irecvCanceled(ctx context.Context, c *Comm, x *expected) error {
	r := Irecv(c, x.buf, x.source, x.tag)
	r.Cancel()
	if x.status, x.err = r.Wait(ctx); errors.Is(x.err, ErrCanceled) {
		x.request, x.err = Irecv(c, x.buf, x.source, x.tag), nil
	}
	return nil
}

// recvAppend receives behind what lies before the buffer: any length fits.
func recvAppend(ctx context.Context, c *Comm, x *expected) error {
	got, s, err := RecvAppend(ctx, c, x.all[:margin:margin], x.source, x.tag)
	x.status, x.err = s, err
	x.buf = got[margin:]
	x.all = append(got, x.all[:margin]...)
	return nil
}

// receive receives a message that was taken.
func (x *expected) receive(ctx context.Context, m *Message, err error) error {
	if err != nil {
		return err
	}
	if x.status, x.err = RecvMessage(ctx, m, x.buf); m.Status() != x.status {
		return fmt.Errorf("probed %+v, received %+v", m.Status(), x.status)
	}
	return nil
}

// probed receives a message that was seen. It is the one that comes, unless it is a
// long one whose sender has taken it back in the meantime.
func (x *expected) probed(ctx context.Context, c *Comm, s Status, err error) error {
	if err != nil {
		return err
	}
	x.status, x.err = Recv(ctx, c, x.buf, x.source, x.tag)
	if s != x.status && s.Bytes <= int64(c.world.limit) {
		return fmt.Errorf("probed %+v, received %+v", s, x.status)
	}
	return nil
}

// again calls f until it says yes.
func again(ctx context.Context, f func() (bool, error)) error {
	for {
		if yes, err := f(); yes || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
}

// waitCall ends requests, all of them; those that tell no statuses leave them to
// wait for the last ones. end notes what one of them got.
type waitCall struct {
	name string
	call func(ctx context.Context, requests []Request, rng *rand.Rand, end func(i int, s Status, err error)) error
}

var waitCalls = []waitCall{
	{"Wait", func(ctx context.Context, requests []Request, _ *rand.Rand, end func(int, Status, error)) error {
		for i, r := range requests {
			s, err := r.Wait(ctx)
			end(i, s, err)
		}
		return nil
	}},
	{"Test", func(ctx context.Context, requests []Request, rng *rand.Rand, end func(int, Status, error)) error {
		for _, i := range rng.Perm(len(requests)) {
			var s Status
			if err := again(ctx, func() (done bool, err error) {
				if s, done, err = requests[i].Test(); done {
					end(i, s, err)
					err = nil
				}
				return done, err
			}); err != nil {
				return err
			}
		}
		return nil
	}},
	{"WaitAllInto", func(ctx context.Context, requests []Request, _ *rand.Rand, end func(int, Status, error)) error {
		results := make([]Result, len(requests))
		err := WaitAllInto(ctx, requests, results)
		if ctx.Err() != nil {
			return err
		}
		for i, r := range results {
			end(i, r.Status, r.Err)
		}
		return nil
	}},
	{"WaitAny", func(ctx context.Context, requests []Request, _ *rand.Rand, end func(int, Status, error)) error {
		for {
			i, s, err := WaitAny(ctx, requests)
			if i < 0 {
				return err
			}
			end(i, s, err)
		}
	}},
	{"TestAny", func(ctx context.Context, requests []Request, _ *rand.Rand, end func(int, Status, error)) error {
		return again(ctx, func() (bool, error) {
			i, s, done, err := TestAny(requests)
			if !done || i < 0 {
				return done, err
			}
			end(i, s, err)
			return false, nil
		})
	}},
	{"Completed", func(ctx context.Context, requests []Request, _ *rand.Rand, end func(int, Status, error)) error {
		for i, r := range Completed(ctx, requests) {
			if i < 0 {
				return r.Err
			}
			end(i, r.Status, r.Err)
		}
		return nil
	}},
}

// blindWaits end sends, whose statuses say nothing.
var blindWaits = []struct {
	name string
	call func(ctx context.Context, requests []Request, rng *rand.Rand) error
}{
	{"WaitAll", func(ctx context.Context, requests []Request, _ *rand.Rand) error { return WaitAll(ctx, requests...) }},
	{"TestAll", func(ctx context.Context, requests []Request, _ *rand.Rand) error {
		return again(ctx, func() (bool, error) { return TestAll(requests...) })
	}},
	{"WaitSome", func(ctx context.Context, requests []Request, rng *rand.Rand) error {
		return someOf(ctx, requests, rng, func(at []int) (int, error) { return WaitSome(ctx, requests, at) })
	}},
	{"TestSome", func(ctx context.Context, requests []Request, rng *rand.Rand) error {
		return someOf(ctx, requests, rng, func(at []int) (int, error) { return TestSome(requests, at) })
	}},
}

// someOf ends requests by WaitSome or TestSome, and sees that each is told once.
func someOf(ctx context.Context, requests []Request, rng *rand.Rand, f func([]int) (int, error)) error {
	ended := make([]bool, len(requests))
	at := make([]int, 1+rng.IntN(len(requests)+1))
	return again(ctx, func() (bool, error) {
		n, err := f(at)
		for _, i := range at[:max(n, 0)] {
			if ended[i] {
				return true, fmt.Errorf("request %d ended twice", i)
			}
			ended[i] = true
		}
		return n < 0, err
	})
}
