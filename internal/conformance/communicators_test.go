package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/comm"
)

// Rule 7.
var communicators = []behaviour{
	{"Isolation", sendApart, recvApart},
}

// apartFrom are communicators of the same ranks.
func (x *exchange) apartFrom() []*comm.Comm { return []*comm.Comm{x.c, x.apart, x.c.Hidden()} }

// Rule 7: what is sent on one communicator isn't received on another.
func sendApart(ctx context.Context, x *exchange) error {
	var reqs []comm.Request
	if err := x.start(ctx, func() {
		all := x.apartFrom()
		for i := range all { // on the last one first
			k := len(all) - 1 - i
			reqs = append(reqs, comm.Isend(all[k], x.message(k, x.bytes()), x.peer, 1))
		}
	}); err != nil {
		return err
	}
	return comm.WaitAll(ctx, reqs...)
}

func recvApart(ctx context.Context, x *exchange) error {
	all := x.apartFrom()
	bufs := make([][]byte, len(all))
	reqs := make([]comm.Request, len(all))
	if err := x.post(ctx, func() {
		for k, c := range all {
			bufs[k] = x.memory(x.bytes())
			reqs[k] = comm.Irecv(c, bufs[k], comm.AnySource, comm.AnyTag)
		}
	}); err != nil {
		return err
	}
	for k, r := range reqs {
		s, err := r.Wait(ctx)
		if err == nil {
			err = errors.Join(x.is(s, 1, x.bytes()), same(bufs[k], k))
		}
		if err != nil {
			return fmt.Errorf("communicator %d: %w", k, err)
		}
	}
	return nil
}
