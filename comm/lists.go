package comm

import (
	"context"
	"errors"
	"math/rand/v2"
)

// What the calls on lists of requests have in common. All but listWorld need the
// lock of the requests' world.

// active says whether a request is more than the zero one.
func (q Request) active() bool { return q != Request{} }

// ready says whether take would return at once: the request is complete, or it is
// an error to wait for it.
func (q Request) ready() bool {
	return q.r == nil || q.r.gen != q.gen || q.r.done || q.r.on != nil
}

var errWorlds = errors.New("requests of different worlds")

// listWorld is the world of the requests, nil if none has one: those that are left
// then were over at once.
func listWorld(op string, requests []Request) (*World, error) {
	w := worldOf(requests)
	for _, q := range requests {
		if q.r != nil && q.r.world != w {
			return nil, w.fail(op, errWorlds)
		}
	}
	return w, nil
}

// fail makes the error of a call that belongs to no communicator.
func (w *World) fail(op string, err error) error {
	return &Error{Op: op, Rank: w.rank, Peer: noPeer, Err: err}
}

// pickReady returns the index of an active request that is ready, any of them, or -1.
func pickReady(requests []Request) int {
	n := len(requests)
	if n == 0 {
		return -1
	}
	first := rand.IntN(n) // always beginning with 0 would starve the last ones
	for k := range n {
		i := (first + k) % n
		if q := requests[i]; q.active() && q.ready() {
			return i
		}
	}
	return -1
}

// end ends a request that is ready, and clears its entry.
func end(requests []Request, i int) (Status, error) {
	q := requests[i]
	requests[i] = Request{}
	return q.take()
}

// waitAny returns when one of the requests, of which pickReady finds none, is complete.
func (w *World) waitAny(ctx context.Context, op string, requests []Request) error {
	group := w.get(nil, op, noPeer, 0, nil)
	defer w.put(group)
	group.waiter.Left = 1
	for _, q := range requests {
		if q.r != nil {
			q.r.on = &group.waiter
		}
	}
	err := w.eng.Wait(ctx, &group.waiter)
	clearWaiter(requests, group)
	if err != nil {
		return w.fail(op, waitError(err))
	}
	return nil
}
