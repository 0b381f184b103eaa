package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/verbena-mpi/verbena/comm"
)

// Rules 1, 2, 5, 6.
var matching = []behaviour{
	{"Order", sendInOrder, recvInOrder},
	{"EarliestReceive", sendTwo, recvEarliest},
	{"Tags", sendThreeTags, recvTagsBackwards},
	{"AnySource", sendThreeTags, recvAnything},
	{"Empty", sendEmpty, recvEmpty},
	{"TagBounds", sendTagBounds, recvTagBounds},
	{"ProcNull", sendNowhere, recvNowhere},
	{"BadArguments", sendBadly, recvBadly},
}

const many = 20

// Rule 1: messages of one sender that match the same receive arrive in send order,
// whatever protocol each takes.
func sendInOrder(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for i := range many {
			reqs = append(reqs, comm.Isend(x.c, x.message(i, x.inOrder(i)), x.peer, 3))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

// inOrder is how long message i is: each third of the place's size, and the others
// short, middling and long.
func (x *exchange) inOrder(i int) int {
	return []int{x.bytes(), 1, x.bytes(), 2000, x.bytes(), 9000}[i%6]
}

func recvInOrder(ctx context.Context, x *exchange) error {
	bufs := make([][]byte, many)
	reqs := make([]comm.Request, many)
	if err := x.post(ctx, func() {
		for i := range bufs {
			bufs[i] = x.memory(max(x.bytes(), 9000))
			reqs[i] = comm.Irecv(x.c, bufs[i], x.peer, 3)
		}
	}); err != nil {
		return err
	}
	for i, r := range reqs {
		s, err := r.Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, 3, x.inOrder(i)), same(bufs[i][:s.Bytes], i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sendTwo(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for i := range 2 {
			reqs = append(reqs, comm.Isend(x.c, x.message(i, x.bytes()), x.peer, 5))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

// Rules 1 and 2: of the receives that a message matches the one that was posted first
// gets it, be it one with wildcards or without.
func recvEarliest(ctx context.Context, x *exchange) error {
	bufs := [3][]byte{x.memory(x.bytes()), x.memory(x.bytes()), x.memory(x.bytes())}
	var other, first, second comm.Request
	if err := x.post(ctx, func() {
		other = comm.Irecv(x.c, bufs[2], x.peer, 6)
		first = comm.Irecv(x.c, bufs[0], comm.AnySource, comm.AnyTag)
		second = comm.Irecv(x.c, bufs[1], x.peer, 5)
	}); err != nil {
		return err
	}
	for i, r := range []comm.Request{first, second} {
		s, err := r.Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, 5, x.bytes()), same(bufs[i], i))
		}
		if err != nil {
			return err
		}
	}
	other.Cancel()
	if _, err := other.Wait(ctx); !errors.Is(err, comm.ErrCanceled) {
		return fmt.Errorf("a receive of another tag: %w", err)
	}
	return nil
}

func sendThreeTags(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for i := range 3 {
			reqs = append(reqs, comm.Isend(x.c, x.message(i, x.bytes()), x.peer, 10+i))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

// Rule 1: a message is matched by its tag, not by when it came.
func recvTagsBackwards(ctx context.Context, x *exchange) error {
	return recvThree(ctx, x, func(i int) (source, tag, message int) { return x.peer, 12 - i, 2 - i })
}

// Rule 2: a receive from any source and of any tag takes the messages in their order,
// and its status says which it was.
func recvAnything(ctx context.Context, x *exchange) error {
	return recvThree(ctx, x, func(i int) (source, tag, message int) { return comm.AnySource, comm.AnyTag, i })
}

func recvThree(ctx context.Context, x *exchange, which func(i int) (source, tag, message int)) error {
	bufs := make([][]byte, 3)
	reqs := make([]comm.Request, 3)
	if err := x.post(ctx, func() {
		for i := range reqs {
			source, tag, _ := which(i)
			bufs[i] = x.memory(x.bytes())
			reqs[i] = comm.Irecv(x.c, bufs[i], source, tag)
		}
	}); err != nil {
		return err
	}
	for i, r := range reqs {
		_, _, message := which(i)
		s, err := r.Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, 10+message, x.bytes()), same(bufs[i], message))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rule 5: empty messages are messages, between others, from nil slices too.
func sendEmpty(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for _, b := range [][]byte{{}, x.message(1, x.bytes()), nil, x.message(3, x.bytes())} {
			reqs = append(reqs, comm.Isend(x.c, b, x.peer, 0))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

func recvEmpty(ctx context.Context, x *exchange) error {
	sizes := []int{0, x.bytes(), 0, x.bytes()}
	bufs := [][]byte{x.memory(x.bytes()), x.memory(x.bytes()), nil, x.memory(x.bytes())}
	reqs := make([]comm.Request, len(bufs))
	if err := x.post(ctx, func() {
		for i, b := range bufs {
			reqs[i] = comm.Irecv(x.c, b, x.peer, 0)
		}
	}); err != nil {
		return err
	}
	for i, r := range reqs {
		s, err := r.Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, 0, sizes[i]), same(bufs[i][:sizes[i]], i))
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

// Rule 6: tags from 0 to MaxTag.
func sendTagBounds(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		for i, tag := range []int{0, comm.MaxTag} {
			reqs = append(reqs, comm.Isend(x.c, x.message(i, x.bytes()), x.peer, tag))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

func recvTagBounds(ctx context.Context, x *exchange) error {
	bufs := [2][]byte{x.memory(x.bytes()), x.memory(x.bytes())}
	var reqs [2]comm.Request
	if err := x.post(ctx, func() {
		reqs[1] = comm.Irecv(x.c, bufs[1], x.peer, comm.MaxTag)
		reqs[0] = comm.Irecv(x.c, bufs[0], x.peer, 0)
	}); err != nil {
		return err
	}
	for i, tag := range []int{0, comm.MaxTag} {
		s, err := reqs[i].Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, tag, x.bytes()), same(bufs[i], i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rule 6: sending to ProcNull and receiving from it does nothing, at once.
func sendNowhere(ctx context.Context, x *exchange) error {
	b := x.message(0, x.bytes())
	_, err := comm.Isend(x.c, b, comm.ProcNull, 1).Wait(ctx)
	return errors.Join(err, comm.Send(ctx, x.c, b, comm.ProcNull, 1))
}

func recvNowhere(ctx context.Context, x *exchange) error {
	all, room := x.room(x.bytes())
	want := comm.Status{Source: comm.ProcNull, Tag: comm.AnyTag}
	s, err := comm.Irecv(x.c, room, comm.ProcNull, 1).Wait(ctx)
	if err != nil || s != want {
		return fmt.Errorf("Irecv: %+v, %w", s, err)
	}
	if s, err = comm.Recv(ctx, x.c, room, comm.ProcNull, comm.AnyTag); err != nil || s != want {
		return fmt.Errorf("Recv: %+v, %w", s, err)
	}
	return beyond(all, room, 0)
}

// Rule 6: what is out of range is an error that names the call, the value and the
// bound, and has no effect.
func sendBadly(ctx context.Context, x *exchange) error {
	b := x.message(0, x.bytes())
	size := x.c.Size()
	for _, bad := range []struct {
		err  error
		of   error
		says []string
	}{
		{comm.Send(ctx, x.c, b, size, 0), comm.ErrRank, []string{"Send(peer", fmt.Sprintf("rank %d is not in 0..%d", size, size-1)}},
		{comm.Send(ctx, x.c, b, -1, 0), comm.ErrRank, []string{"rank -1"}},
		{comm.Send(ctx, x.c, b, comm.AnySource, 0), comm.ErrRank, []string{"Send(peer AnySource"}},
		{comm.Send(ctx, x.c, b, x.peer, -1), comm.ErrTag, []string{"tag -1 is not in 0..2147483647"}},
		{comm.Send(ctx, x.c, b, x.peer, comm.AnyTag), comm.ErrTag, []string{"tag AnyTag"}},
		{waited(ctx, comm.Isend(x.c, b, size+7, 0)), comm.ErrRank, []string{"Isend(peer"}},
		{waited(ctx, comm.Isend(x.c, b, x.peer, comm.MaxTag+1)), comm.ErrTag, []string{"Isend(peer", "tag 2147483648"}},
		{comm.Send(ctx, x.c, []string{"a"}, x.peer, 0), comm.ErrType, []string{"string"}},
	} {
		if !errors.Is(bad.err, bad.of) {
			return fmt.Errorf("%w, want %w", bad.err, bad.of)
		}
		for _, part := range bad.says {
			if !strings.Contains(bad.err.Error(), part) {
				return fmt.Errorf("%q doesn't say %q", bad.err, part)
			}
		}
	}
	return nil
}

func recvBadly(ctx context.Context, x *exchange) error {
	all, room := x.room(x.bytes())
	recv := func(peer, tag int) error {
		_, err := comm.Recv(ctx, x.c, room, peer, tag)
		return err
	}
	size := x.c.Size()
	for _, bad := range []struct{ err, of error }{
		{recv(size, 0), comm.ErrRank},
		{recv(-1, 0), comm.ErrRank},
		{recv(x.peer, -1), comm.ErrTag},
		{recv(x.peer, comm.MaxTag+1), comm.ErrTag},
		{waited(ctx, comm.Irecv(x.c, room, size, 0)), comm.ErrRank},
		{waited(ctx, comm.Irecv(x.c, room, comm.AnySource, -7)), comm.ErrTag},
	} {
		if !errors.Is(bad.err, bad.of) {
			return fmt.Errorf("%w, want %w", bad.err, bad.of)
		}
	}
	return beyond(all, room, 0)
}

// waited is how a request ended.
func waited(ctx context.Context, r comm.Request) error {
	_, err := r.Wait(ctx)
	return err
}
