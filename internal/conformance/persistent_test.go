package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/verbena-mpi/verbena/comm"
)

// Rule 10.
var persistent = []behaviour{
	{"Persistent", sendPersistent, recvPersistent},
	{"Partitioned", sendParts, recvParts},
}

const rounds = 4

// Rule 10: start, wait, start again; a started one can't be started.
func sendPersistent(ctx context.Context, x *exchange) error {
	b := x.memory(x.bytes())
	p := comm.SendInit(x.c, b, x.peer, 4)
	var r comm.Request
	fill(b, 0)
	if err := x.start(ctx, func() { r = p.Start() }); err != nil {
		return err
	}
	for i := 1; ; i++ {
		if err := waited(ctx, r); err != nil || i == rounds {
			return err
		}
		fill(b, i)
		r = p.Start()
	}
}

func recvPersistent(ctx context.Context, x *exchange) error {
	all, room := x.room(x.bytes())
	p := comm.RecvInit(x.c, room, comm.AnySource, 4)
	var r comm.Request
	if err := x.post(ctx, func() { r = p.Start() }); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := waited(ctx, p.Start()); !errors.Is(err, comm.ErrActive) {
			return fmt.Errorf("starting an active one: %w", err)
		}
		s, err := r.Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, 4, x.bytes()), same(room, i), beyond(all, room, x.bytes()))
		}
		if err != nil || i == rounds-1 {
			return err
		}
		r = p.Start()
	}
}

// The sides have different numbers of partitions.
const (
	sendPartitions = 4
	recvPartitions = 2
)

// Rule 10: partitions are made ready in any order, and each round begins anew. A
// message that can be probed follows them.
func sendParts(ctx context.Context, x *exchange) error {
	n := x.bytes()
	b := x.memory(sendPartitions * n)
	p := comm.PsendInit(x.c, b, sendPartitions, x.peer, 4)
	var failed error
	for i := range rounds {
		var r, follows comm.Request
		round := func() {
			fill(b, i)
			r = p.Start()
			for _, part := range []int{2, 0, 3, 1} {
				failed = errors.Join(failed, p.Ready(part))
			}
			follows = comm.Isend(x.c, []byte{byte(i)}, x.peer, 5)
		}
		if i == 0 {
			if err := x.start(ctx, round); err != nil {
				return err
			}
		} else {
			round()
		}
		if err := errors.Join(failed, waited(ctx, r), waited(ctx, follows)); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	return nil
}

func recvParts(ctx context.Context, x *exchange) error {
	n := sendPartitions * x.bytes()
	all, room := x.room(n)
	p := comm.PrecvInit(x.c, room, recvPartitions, x.peer, 4)
	for i := range rounds {
		var r, follows comm.Request
		number := []byte{0}
		round := func() {
			r = p.Start()
			follows = comm.Irecv(x.c, number, x.peer, 5)
		}
		if i == 0 {
			if err := x.post(ctx, round); err != nil {
				return err
			}
		} else {
			round()
		}
		if err := x.arrive(ctx, p, recvPartitions-1); err != nil {
			return err
		}
		half := make([]byte, n) // the second one is there before the round is over
		fill(half, i)
		if !bytes.Equal(half[n/2:], room[n/2:]) {
			return fmt.Errorf("round %d: the partition that arrived is wrong", i)
		}
		if err := errors.Join(waited(ctx, r), waited(ctx, follows), same(room, i), beyond(all, room, n)); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	return nil
}

// arrive waits for a partition.
func (x *exchange) arrive(ctx context.Context, p *comm.Partitioned, part int) error {
	for {
		there, err := p.Arrived(part)
		if err == nil {
			err = ctx.Err()
		}
		if there || err != nil {
			return err
		}
		runtime.Gosched()
	}
}
