package coll

import (
	"context"
	"fmt"
	"sync"

	"github.com/verbena-mpi/verbena/comm"
)

// call is one collective call of this rank. It belongs to one goroutine.
type call struct {
	ctx   context.Context
	c     *comm.Comm // the hidden twin of the program's
	rank  int
	size  int
	kind  kind
	root  int
	tag   int
	begun bool // it has found a communicator that it can use

	requests []comm.Request
	steps    []step // what the requests are
	scratch  []*scratch
}

// calls keeps calls and the lists in them. What is in it can't be told apart, so that
// all worlds of a process may share it.
var calls = sync.Pool{New: func() any { return new(call) }}

// begin checks what all calls have in common: the element type, the communicator, the
// root.
func begin[T any](ctx context.Context, c *comm.Comm, kind kind, root int) (*call, error) {
	k := calls.Get().(*call)
	k.ctx, k.c, k.rank, k.size, k.kind, k.root = ctx, c.Hidden(), c.Rank(), c.Size(), kind, root
	// A message to nobody: its errors are those that any message would have.
	if err := comm.Send[T](ctx, k.c, nil, comm.ProcNull, 0); err != nil {
		return k, err
	}
	k.begun = true
	if uint(root) >= uint(k.size) {
		return k, fmt.Errorf("%w: root %d is not in 0..%d", comm.ErrRank, root, k.size-1)
	}
	return k, nil
}

// by says which algorithm the messages that follow are of.
func (k *call) by(w way) { k.tag = tagOf(k.kind, w, k.root) }

// end ends the call with err as its result. Before an error is returned the other ranks
// are told: they may be waiting for this one.
func (k *call) end(err error) error {
	if err == nil {
		k.drop()
		k.put()
		return nil
	}
	if k.begun {
		k.cancel()
		k.tell(err)
	}
	// What a call that failed has used isn't used again.
	clear(k.scratch)
	err = &Error{Op: names[k.kind], Rank: k.rank, Err: err}
	k.put()
	return err
}

func (k *call) put() {
	*k = call{requests: k.requests[:0], steps: k.steps[:0], scratch: k.scratch[:0]}
	calls.Put(k)
}
