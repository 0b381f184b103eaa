package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/comm"
)

// Rules 8 (the standard mode), 9, 13, 14, 16, 19.
var data = []behaviour{
	{"Reuse", sendAndScribble, recvInOrderOfTags},
	{"Truncation", sendTooMuch, recvTooMuch},
	{"Shorter", sendShorter, recvShorter},
	{"Sendrecv", exchangeThere, exchangeBack},
	{"SendrecvReplace", replaceThere, replaceBack},
	{"Structs", sendStructs, recvStructs},
	{"Value", sendValue, recvValue},
	{"WindowOneWay", sendWindow, recvWindow},
	{"WindowBothWays", windowBothWays, windowBothWays},
}

// Rule 8: the buffer is the sender's again when Send returns.
func sendAndScribble(ctx context.Context, x *exchange) error {
	wait := func() error { return nil }
	if err := x.start(ctx, func() {
		wait = later(func() error {
			for i := range 5 {
				b := x.message(i, x.bytes())
				if err := comm.Send(ctx, x.c, b, x.peer, i); err != nil {
					return err
				}
				fill(b, 200)
			}
			return nil
		})
	}); err != nil {
		return err
	}
	return wait()
}

func recvInOrderOfTags(ctx context.Context, x *exchange) error {
	wait := func() error { return nil }
	if err := x.post(ctx, func() {
		wait = later(func() error {
			for i := range 5 {
				all, room := x.room(x.bytes())
				s, err := comm.Recv(ctx, x.c, room, x.peer, i)
				if err == nil {
					err = errors.Join(x.is(s, i, x.bytes()), same(room, i), beyond(all, room, x.bytes()))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}); err != nil {
		return err
	}
	return wait()
}

// rooms are how much less than the message the receives have room for.
func (x *exchange) rooms() []int { return []int{x.bytes() - 1, x.bytes() / 2, 0} }

func sendTooMuch(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for i := range x.rooms() {
			reqs = append(reqs, comm.Isend(x.c, x.message(2*i, x.bytes()), x.peer, 4),
				comm.Isend(x.c, x.message(2*i+1, x.bytes()), x.peer, 4))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

// Rule 13: a message that is too long is an error of its receive alone, with the true
// length, source and tag. What fits is there, and nothing is written beyond. The next
// message is right, and the sender completes.
func recvTooMuch(ctx context.Context, x *exchange) error {
	n := x.bytes()
	var all, rooms [][]byte
	var reqs []comm.Request
	if err := x.post(ctx, func() {
		for _, less := range x.rooms() {
			for _, want := range []int{less, n} {
				a, room := x.room(want)
				all, rooms = append(all, a), append(rooms, room)
				reqs = append(reqs, comm.Irecv(x.c, room, x.peer, 4))
			}
		}
	}); err != nil {
		return err
	}
	for i, r := range reqs {
		s, err := r.Wait(ctx)
		short := len(rooms[i]) < n
		if short && !errors.Is(err, comm.ErrTruncated) || !short && err != nil {
			return fmt.Errorf("a message of %d bytes into %d: %w", n, len(rooms[i]), err)
		}
		if err := errors.Join(x.is(s, 4, n), same(rooms[i], i), beyond(all[i], rooms[i], len(rooms[i]))); err != nil {
			return fmt.Errorf("a message of %d bytes into %d: %w", n, len(rooms[i]), err)
		}
	}
	return nil
}

func sendShorter(ctx context.Context, x *exchange) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, x.message(0, x.bytes()), x.peer, 4) }); err != nil {
		return err
	}
	return waited(ctx, r)
}

// A message may be shorter than the buffer: the rest is left alone.
func recvShorter(ctx context.Context, x *exchange) error {
	all, room := x.room(2*x.bytes() + 5000)
	var r comm.Request
	if err := x.post(ctx, func() { r = comm.Irecv(x.c, room, x.peer, 4) }); err != nil {
		return err
	}
	s, err := r.Wait(ctx)
	if err == nil {
		err = errors.Join(x.is(s, 4, x.bytes()), same(room[:x.bytes()], 0), beyond(all, room, x.bytes()))
	}
	return err
}

// Rule 9: both ways at once, with the other and with oneself.
func exchangeThere(ctx context.Context, x *exchange) error {
	return x.exchangeBoth(ctx, x.start, 0, 1)
}

func exchangeBack(ctx context.Context, x *exchange) error { return x.exchangeBoth(ctx, x.post, 1, 0) }

func (x *exchange) exchangeBoth(ctx context.Context, begin func(context.Context, func()) error, mine, other int) error {
	wait := func() error { return nil }
	if err := begin(ctx, func() {
		wait = later(func() error {
			all, room := x.room(x.bytes())
			s, err := comm.Sendrecv(ctx, x.c, x.message(mine, x.bytes()), x.peer, mine, room, x.peer, other)
			if err != nil {
				return err
			}
			return errors.Join(x.is(s, other, x.bytes()), same(room, other), beyond(all, room, x.bytes()))
		})
	}); err != nil {
		return err
	}
	return wait()
}

func replaceThere(ctx context.Context, x *exchange) error { return x.replace(ctx, x.start, 0, 1) }
func replaceBack(ctx context.Context, x *exchange) error  { return x.replace(ctx, x.post, 1, 0) }

func (x *exchange) replace(ctx context.Context, begin func(context.Context, func()) error, mine, other int) error {
	wait := func() error { return nil }
	if err := begin(ctx, func() {
		wait = later(func() error {
			all, room := x.room(x.bytes())
			fill(room, mine)
			s, err := comm.SendrecvReplace(ctx, x.c, room, x.peer, mine, x.peer, other)
			if err != nil {
				return err
			}
			return errors.Join(x.is(s, other, x.bytes()), same(room, other), beyond(all, room, x.bytes()))
		})
	}); err != nil {
		return err
	}
	return wait()
}

// particle is an element with a hole in it.
type particle struct {
	Kind byte
	At   [3]float64
	ID   int32
}

func (x *exchange) particles() []particle {
	all := make([]particle, x.bytes()/40+1)
	for i := range all {
		all[i] = particle{byte(i), [3]float64{float64(i), -1, 0.5}, int32(i * i)}
	}
	return all
}

func sendStructs(ctx context.Context, x *exchange) error {
	var r comm.Request
	if err := x.start(ctx, func() { r = comm.Isend(x.c, x.particles(), x.peer, 4) }); err != nil {
		return err
	}
	return waited(ctx, r)
}

// Rule 16: elements of any type without pointers.
func recvStructs(ctx context.Context, x *exchange) error {
	want := x.particles()
	got := make([]particle, len(want))
	var r comm.Request
	if err := x.post(ctx, func() { r = comm.Irecv(x.c, got, x.peer, 4) }); err != nil {
		return err
	}
	s, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	if n, err := comm.Count[particle](s); err != nil || n != len(want) {
		return fmt.Errorf("%d elements, want %d: %w", n, len(want), err)
	}
	if d := cmp.Diff(want, got); d != "" {
		return errors.New(d)
	}
	return nil
}

func sendValue(ctx context.Context, x *exchange) error {
	wait := func() error { return nil }
	if err := x.start(ctx, func() {
		wait = later(func() error { return comm.SendOne(ctx, x.c, particle{ID: 77}, x.peer, 4) })
	}); err != nil {
		return err
	}
	return wait()
}

func recvValue(ctx context.Context, x *exchange) error {
	wait := func() error { return nil }
	if err := x.post(ctx, func() {
		wait = later(func() error {
			v, s, err := comm.RecvOne[particle](ctx, x.c, comm.AnySource, 4)
			if err == nil && (v != particle{ID: 77} || s.Source != x.peer) {
				err = fmt.Errorf("%+v, %+v", v, s)
			}
			return err
		})
	}); err != nil {
		return err
	}
	return wait()
}

// window is more than there are receive slots.
const window = 300

// Rule 19: more messages in flight than slots and credits.
func sendWindow(ctx context.Context, x *exchange) error {
	b := x.message(1, x.bytes())
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for range window {
			reqs = append(reqs, comm.Isend(x.c, b, x.peer, 4))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

func recvWindow(ctx context.Context, x *exchange) error {
	bufs := make([][]byte, window)
	reqs := make([]comm.Request, window)
	if err := x.post(ctx, func() {
		for i := range reqs {
			bufs[i] = x.memory(x.bytes())
			reqs[i] = comm.Irecv(x.c, bufs[i], x.peer, 4)
		}
	}); err != nil {
		return err
	}
	if err := comm.WaitAll(ctx, reqs...); err != nil {
		return err
	}
	for _, b := range bufs {
		if err := same(b, 1); err != nil {
			return err
		}
	}
	return nil
}

// Rule 19, both ways: both sides send all before they receive any.
func windowBothWays(ctx context.Context, x *exchange) error {
	const each = 100
	tag := 1 // one's own messages, where both sides are one rank
	if x.device.self {
		tag = x.side
	}
	b := x.message(1, x.bytes())
	var reqs []comm.Request
	for range each {
		reqs = append(reqs, comm.Isend(x.c, b, x.peer, tag))
	}
	bufs := make([][]byte, each)
	for i := range bufs {
		bufs[i] = x.memory(x.bytes())
		reqs = append(reqs, comm.Irecv(x.c, bufs[i], x.peer, tag))
	}
	if err := comm.WaitAll(ctx, reqs...); err != nil {
		return err
	}
	for _, b := range bufs {
		if err := same(b, 1); err != nil {
			return err
		}
	}
	return nil
}
