package comm

import (
	"context"
	"errors"
	"fmt"
)

// Wait returns when the operation is complete: the buffer is the caller's again,
// or, for a receive, filled. If ctx ends first, its error is returned and the
// request is still active.
func (q Request) Wait(ctx context.Context) (Status, error) {
	if q.r == nil {
		return Status{}, nil
	}
	w := q.r.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r, err := q.live()
	if err != nil {
		return Status{}, fmt.Errorf("comm: Wait: %w", err)
	}
	if err := r.wait(ctx); err != nil {
		return Status{}, (&Error{Op: "Wait", Rank: r.comm.rank, Peer: r.peer, Tag: r.tag, Bytes: r.bytes(), Err: err})
	}
	status, err := r.result()
	w.put(r)
	return status, err
}

// Test says whether the operation is complete, without waiting; it moves
// messages along. If it says yes the request is ended, as by Wait.
func (q Request) Test() (status Status, done bool, err error) {
	if q.r == nil {
		return Status{}, true, nil
	}
	w := q.r.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r, err := q.live()
	if err != nil {
		return Status{}, true, fmt.Errorf("comm: Test: %w", err)
	}
	if !r.done {
		w.eng.Poll()
	}
	if !r.done {
		return Status{}, false, nil
	}
	status, err = r.result()
	w.put(r)
	return status, true, err
}

// WaitAll waits for all requests. Errors are joined; each says which request it
// belongs to. If ctx ends first, the requests that were not complete are still
// active.
func WaitAll(ctx context.Context, requests ...Request) error {
	return WaitAllInto(ctx, requests, nil)
}

// WaitAllInto is WaitAll which also stores how each request ended: results is nil
// or at least as long as requests.
func WaitAllInto(ctx context.Context, requests []Request, results []Result) error {
	if results != nil && len(results) < len(requests) {
		return fmt.Errorf("comm: WaitAllInto: %d results for %d requests", len(results), len(requests))
	}
	w := worldOf(requests)
	if w == nil {
		for i := range requests {
			store(results, i, Status{}, nil)
		}
		return nil
	}
	w.eng.Lock()
	defer w.eng.Unlock()
	group := w.get(nil, "WaitAll", noPeer, 0, nil)
	defer w.put(group)
	group.waiter.Left = 0
	for _, q := range requests {
		if q.r == nil || q.r.gen != q.gen || q.r.done || q.r.on != nil {
			continue
		}
		if q.r.world != w {
			clearWaiter(requests, group)
			return errors.New("comm: WaitAll: requests of different worlds")
		}
		q.r.on = &group.waiter
		group.waiter.Left++
	}
	err := waitError(w.eng.Wait(ctx, &group.waiter))
	clearWaiter(requests, group)
	if err != nil {
		return fmt.Errorf("comm: WaitAll: %w", err)
	}
	var errs []error
	for i, q := range requests {
		status, err := q.take()
		store(results, i, status, err)
		if err != nil {
			errs = append(errs, fmt.Errorf("request %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// take ends a request that is complete. The lock is held.
func (q Request) take() (Status, error) {
	if q.r == nil {
		return Status{}, nil
	}
	r, err := q.live()
	if err != nil {
		return Status{}, fmt.Errorf("comm: Wait: %w", err)
	}
	status, err := r.result()
	r.world.put(r)
	return status, err
}

func store(results []Result, i int, s Status, err error) {
	if results != nil {
		results[i] = Result{s, err}
	}
}

func worldOf(requests []Request) *World {
	for _, q := range requests {
		if q.r != nil {
			return q.r.world
		}
	}
	return nil
}

func clearWaiter(requests []Request, group *request) {
	for _, q := range requests {
		if q.r != nil && q.r.on == &group.waiter {
			q.r.on = nil
		}
	}
}
