package pmi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// A barrier that takes too long for one rank fails for all that are in it, and for
// those that come later, with the names of those that were missing.
func TestBarrierMissing(t *testing.T) {
	j := newJob(t, 9)
	cs := j.clients(t)
	var g errgroup.Group
	in := func(r int, limit time.Duration) {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			cs[r].Ours = true
			err := cs[r].Barrier(ctx)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "ranks 1, 3-5, 7-8 have not come to the barrier within 2") {
				return errors.Join(errors.New("expected those that are missing"), err)
			}
			return nil
		})
	}
	in(0, 5*time.Second)
	in(2, 300*time.Millisecond)
	in(6, 5*time.Second)
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	in(3, 5*time.Second)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	// The connection goes on.
	if err := cs[3].Finalize(t.Context()); err != nil {
		t.Error(err)
	}
}

// A limit that isn't reached changes nothing, and foreign servers aren't told any.
func TestBarrierInTime(t *testing.T) {
	j := newJob(t, 3)
	cs := j.clients(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 50 {
		var g errgroup.Group
		for r, c := range cs {
			c.Ours = r > 0
			g.Go(func() error { return c.Barrier(ctx) })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBreak(t *testing.T) {
	j := newJob(t, 2)
	cs := j.clients(t)
	done := make(chan error, 1)
	go func() { done <- cs[0].Barrier(t.Context()) }()
	j.Break("rank 1 has a=b\nended")
	j.Break("another reason")
	for r := range cs {
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "rank 1 has a=b ended") {
			t.Errorf("rank %d: %v", r, err)
		}
		go func() { done <- cs[1].Barrier(t.Context()) }()
	}
	if err := <-done; err == nil {
		t.Error("entered a broken barrier")
	}
}

func TestRanks(t *testing.T) {
	for want, list := range map[string][]int{
		"rank 3 has": {3}, "ranks 0-1 have": {0, 1}, "ranks 0-2 have": {0, 1, 2}, "ranks 0, 2-3, 5-7, 9 have": {0, 2, 3, 5, 6, 7, 9},
	} {
		if got := Ranks(list, "has", "have"); got != want {
			t.Errorf("%v: %q", list, got)
		}
	}
}
