package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// WaitSome waits until at least one of the requests is complete, ends all that
// are, stores their indices in order, and returns how many there are. Their entries
// become zero Requests. If more are complete than indices has room for, some are
// left for the next call, which ones up to chance. Zero entries are passed over; if
// there are no others, the number is -1.
//
// Errors of the requests are joined; each says which request it belongs to. If ctx
// ends first, or the requests are of different worlds, or indices is empty, the
// number is 0 and all requests are still active. For statuses use [Completed] or
// [WaitAny]. It may be called concurrently, on lists that have no request in
// common.
func WaitSome(ctx context.Context, requests []Request, indices []int) (int, error) {
	return some("WaitSome", requests, indices, func(w *World) error {
		return w.waitAny(ctx, "WaitSome", requests)
	})
}

// TestSome is WaitSome that doesn't wait; it moves messages along. The number is 0
// if none is complete.
func TestSome(requests []Request, indices []int) (int, error) {
	return some("TestSome", requests, indices, func(w *World) error {
		w.eng.Poll()
		return nil
	})
}

var errNoRoom = errors.New("there is no room for an index")

// some ends the requests that are ready, after move if none is.
func some(op string, requests []Request, indices []int, move func(*World) error) (int, error) {
	if !slices.ContainsFunc(requests, Request.active) {
		return -1, nil
	}
	if len(indices) == 0 {
		return 0, fmt.Errorf("comm: %s: %w", op, errNoRoom)
	}
	w, err := listWorld(op, requests)
	if err != nil {
		return 0, err
	}
	if w != nil {
		w.eng.Lock()
		defer w.eng.Unlock()
	}
	if w != nil && pickReady(requests) < 0 {
		if err := move(w); err != nil {
			return 0, err
		}
	}
	return endReady(requests, indices)
}

// endReady ends as many requests that are ready as indices has room for.
func endReady(requests []Request, indices []int) (int, error) {
	done := indices[:0]
	first := max(pickReady(requests), 0)
	for k := range requests {
		i := (first + k) % len(requests)
		if q := requests[i]; len(done) < len(indices) && q.active() && q.ready() {
			done = append(done, i)
		}
	}
	slices.Sort(done)
	var errs []error
	for _, i := range done {
		if _, err := end(requests, i); err != nil {
			errs = append(errs, fmt.Errorf("request %d: %w", i, err))
		}
	}
	return len(done), errors.Join(errs...)
}

// TestAll says whether all requests are complete, without waiting; it moves
// messages along. If it says yes, all are ended, as by WaitAll, and the error is
// WaitAll's; otherwise none is. It may be called concurrently, on lists that have
// no request in common.
func TestAll(requests ...Request) (bool, error) {
	w, err := listWorld("TestAll", requests)
	if w == nil {
		return err == nil, err
	}
	w.eng.Lock()
	defer w.eng.Unlock()
	if !allReady(requests) {
		if w.eng.Poll(); !allReady(requests) {
			return false, nil
		}
	}
	var errs []error
	for i, q := range requests {
		if _, err := q.take(); err != nil {
			errs = append(errs, fmt.Errorf("request %d: %w", i, err))
		}
	}
	return true, errors.Join(errs...)
}

func allReady(requests []Request) bool {
	return !slices.ContainsFunc(requests, func(q Request) bool { return !q.ready() })
}
