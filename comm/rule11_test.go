package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// Rule 11: the all form over no requests, zero ones and such as were ended answers at
// once; what it was given is in order and each error is at its request's place.
func TestRule11All(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		for _, list := range [][]Request{nil, {}, {{}, {}}} {
			if err := WaitAll(ctx, list...); err != nil {
				t.Errorf("WaitAll of %v: %v", list, err)
			}
			results := []Result{{Err: ErrDone}, {Err: ErrDone}}
			if err := WaitAllInto(ctx, list, results); err != nil {
				t.Errorf("WaitAllInto of %v: %v", list, err)
			}
			for i := range list {
				if results[i] != (Result{}) {
					t.Errorf("WaitAllInto of %v: result %d is %v", list, i, results[i])
				}
			}
		}
		ended := Irecv(c, []byte(nil), ProcNull, 0)
		if _, err := ended.Wait(ctx); err != nil {
			return err
		}
		canceled := Irecv(c, []byte(nil), 0, 9)
		canceled.Cancel()
		list := []Request{
			Irecv(c, make([]byte, 3), 0, 1), ended,
			{},
			Irecv(c, make([]byte, 3), 0, 2),
			Isend(c, make([]byte, 2), 0, 1), Isend(c, make([]byte, 5), 0, 2), Isend(c, []byte(nil), 7, 0), canceled,
		}
		if err := WaitAllInto(ctx, list, make([]Result, 7)); err == nil {
			t.Error("WaitAllInto with too few results: no error")
		}
		results := make([]Result, len(list))
		err := WaitAllInto(ctx, list, results)
		for i, want := range []Result{
			{Status: Status{0, 1, 2}}, {Err: ErrDone}, {}, {Status{0, 2, 5}, ErrTruncated}, {}, {}, {Err: ErrRank}, {Err: ErrCanceled},
		} {
			sends := i == 4 || i == 5 // whose status says nothing
			if got := results[i]; !errors.Is(got.Err, want.Err) || got.Status != want.Status && !sends {
				t.Errorf("request %d: %v, expected %v", i, got, want)
			}
			if want.Err != nil && !errors.Is(err, want.Err) {
				t.Errorf("the joined error %v has no %v", err, want.Err)
			}
		}
		if err := WaitAllInto(ctx, list, results); err == nil {
			t.Error("waited for twice: no error")
		}
		for i, r := range results {
			if live := i != 2 && list[i].r != nil; live != errors.Is(r.Err, ErrDone) {
				t.Errorf("waited for twice: request %d: %v", i, r)
			}
		}
		return nil
	})
}

// Rules 10 and 11: requests of persistent and partitioned operations are as others in
// lists: each is ended once in a round, and can then be started again.
func TestRule11Persistent(t *testing.T) {
	for name, collect := range collectors {
		t.Run(name, func(t *testing.T) {
			pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
				const each = 4
				var all []interface{ Start() Request }
				for i := range each {
					n := []int{8, 300, 60_000, 0}[i]
					tag := len(all)
					all = append(all, RecvInit(c, make([]byte, n), peer, tag), SendInit(c, make([]byte, n), peer, tag))
					tag = len(all)
					all = append(all, PrecvInit(c, make([]byte, n), 2, peer, tag), PsendInit(c, make([]byte, n), 4, peer, tag))
				}
				for round := range 3 {
					list := StartAll(nil, all)
					for _, o := range all {
						if p, ok := o.(*Partitioned); ok && !p.recv {
							if err := p.ReadyRange(0, 4); err != nil {
								return err
							}
						}
					}
					list = append(list, Request{})
					var got []int
					for more := true; more; {
						var err error
						more, err = collect(ctx, list, func(i int, err error) { got = append(got, i) })
						if err != nil {
							return fmt.Errorf("round %d: %w", round, err)
						}
					}
					slices.Sort(got)
					if len(got) != len(all) || len(slices.Compact(got)) != len(all) {
						return fmt.Errorf("round %d: %v were ended", round, got)
					}
				}
				return nil
			})
		})
	}
}
