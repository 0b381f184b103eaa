package comm

import (
	"context"
	"iter"
)

// WaitAny waits until one of the requests is complete, ends it as Wait would, and
// returns its index, its status and its error; its entry becomes the zero Request.
// If several are complete, any of them may be the one, by chance, so that none is
// left out for ever. Zero entries are passed over; if there are no others, the
// index is -1.
//
// If ctx ends first, or the requests are of different worlds, the index is -1 and
// all requests are still active. It may be called concurrently, on lists that have
// no request in common.
func WaitAny(ctx context.Context, requests []Request) (int, Status, error) {
	w, err := listWorld("WaitAny", requests)
	if err != nil {
		return -1, Status{}, err
	}
	if w != nil {
		w.eng.Lock()
		defer w.eng.Unlock()
	}
	i := pickReady(requests)
	if i < 0 && w != nil {
		if err := w.waitAny(ctx, "WaitAny", requests); err != nil {
			return -1, Status{}, err
		}
		i = pickReady(requests)
	}
	if i < 0 {
		return -1, Status{}, nil
	}
	status, err := end(requests, i)
	return i, status, err
}

// TestAny is WaitAny that doesn't wait; it moves messages along. done says whether
// a request was ended, or the index is -1 because there are none but zero ones.
func TestAny(requests []Request) (index int, status Status, done bool, err error) {
	w, err := listWorld("TestAny", requests)
	if err != nil {
		return -1, Status{}, false, err
	}
	if w != nil {
		w.eng.Lock()
		defer w.eng.Unlock()
	}
	i := pickReady(requests)
	if i < 0 && w != nil && w.eng.Poll() > 0 {
		i = pickReady(requests)
	}
	if i < 0 {
		return -1, Status{}, w == nil, nil
	}
	status, err = end(requests, i)
	return i, status, true, err
}

// Completed ranges over the requests as they complete: each index once, with what
// Wait would return. Their entries become zero Requests, so that those which are
// left when the loop is left early are still in the list. If ctx ends, or the
// requests are of different worlds, the last index is -1, with the error.
//
//	for i, result := range comm.Completed(ctx, requests) {
//		if result.Err != nil {
//			return result.Err
//		}
//		use(buffers[i])
//	}
func Completed(ctx context.Context, requests []Request) iter.Seq2[int, Result] {
	return func(yield func(int, Result) bool) {
		for {
			i, status, err := WaitAny(ctx, requests)
			if i < 0 && err == nil || !yield(i, Result{status, err}) || i < 0 {
				return
			}
		}
	}
}
