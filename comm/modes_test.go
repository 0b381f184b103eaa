package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// edges are the lengths around those at which the way of a message changes: inline,
// the eager limits of the settings that are tested, and some of each.
var edges = []int{0, 1, 40, 41, 383, 384, 385, 199, 200, 201, 16383, 16384, 16385, 300000}

// pairsAndSelf runs a body on two ranks, with each other, and on one, with itself.
func pairsAndSelf(t *testing.T, body func(ctx context.Context, c *Comm, peer int) error) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		t.Run("other", func(t *testing.T) {
			run(t, 2, cfg, func(ctx context.Context, c *Comm) error { return body(ctx, c, 1-c.Rank()) })
		})
		t.Run("self", func(t *testing.T) {
			run(t, 1, cfg, func(ctx context.Context, c *Comm) error { return body(ctx, c, 0) })
		})
	})
}

// Rule 8: a send in Sync mode is complete after the match and not before, whatever
// its length, and a probe finds it.
func TestRule8Sync(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, n := range edges {
			out, in := make([]byte, n), make([]byte, n)
			pattern(out, n)
			s := Isend(c, out, peer, 1, Sync)
			// The standard send follows it: when it is here, so is the other.
			if _, err := Sendrecv(ctx, c, []byte{1}, peer, 2, make([]byte, 1), peer, 2); err != nil {
				return err
			}
			st, found, err := c.Iprobe(peer, 1)
			if want := (Status{peer, 1, int64(n)}); err != nil || !found || st != want {
				return fmt.Errorf("%d bytes: probed %+v, %v, %w", n, st, found, err)
			}
			if _, done, err := s.Test(); done || err != nil {
				return fmt.Errorf("%d bytes: complete before the match, %w", n, err)
			}
			if _, err := Sendrecv(ctx, c, []byte{1}, peer, 2, make([]byte, 1), peer, 2); err != nil {
				return err
			}
			if _, err := Recv(ctx, c, in, peer, 1); err != nil || !bytes.Equal(in, out) {
				return fmt.Errorf("%d bytes: wrong content, %w", n, err)
			}
			if _, err := s.Wait(ctx); err != nil {
				return fmt.Errorf("%d bytes: %w", n, err)
			}
			// The receive first, and the blocking form.
			clear(in)
			r := Irecv(c, in, peer, 3)
			if err := Send(ctx, c, out, peer, 3, Sync); err != nil {
				return err
			}
			if _, err := r.Wait(ctx); err != nil || !bytes.Equal(in, out) {
				return fmt.Errorf("%d bytes, posted first: wrong content, %w", n, err)
			}
		}
		return nil
	})
}

// Rule 8, with rules 1 and 5: modes don't change the order of messages.
func TestRule8Order(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		modes := []Option{Standard, Buffered, Sync, ReadyMode, nil}
		var requests []Request
		for i := range 40 {
			requests = append(requests, Isend(c, []int{i}, peer, 1, modes[i%len(modes)]))
		}
		for i := range 40 {
			got := []int{-1}
			if _, err := Recv(ctx, c, got, peer, AnyTag); err != nil || got[0] != i {
				return fmt.Errorf("message %d is the %dth, %w", got[0], i, err)
			}
		}
		return WaitAll(ctx, requests...)
	})
}

// Rules 8, 12 and 13: a send in Sync mode is withdrawn while nobody has matched it;
// one that is truncated is complete.
func TestRule8SyncGivenUp(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, n := range edges {
			out := make([]byte, n)
			s := Isend(c, out, peer, 1, Sync)
			s.Cancel()
			if _, err := s.Wait(ctx); !errors.Is(err, ErrCanceled) {
				return fmt.Errorf("%d bytes: canceled: %w", n, err)
			}
			over, cancel := context.WithCancel(ctx)
			cancel()
			if err := Send(over, c, out, peer, 1, Sync); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%d bytes: the context has ended: %w", n, err)
			}
			if _, err := Sendrecv(ctx, c, []byte{1}, peer, 2, make([]byte, 1), peer, 2); err != nil {
				return err
			}
			if _, found, err := c.Iprobe(peer, 1); found || err != nil {
				return fmt.Errorf("%d bytes: found what was withdrawn, %w", n, err)
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			s = Isend(c, out, peer, 1, Sync)
			st, err := Recv(ctx, c, make([]byte, n-1), peer, 1)
			if !errors.Is(err, ErrTruncated) || st.Bytes != int64(n) {
				return fmt.Errorf("%d bytes in too little room: %+v, %w", n, st, err)
			}
			if _, err := s.Wait(ctx); err != nil {
				return fmt.Errorf("%d bytes, truncated: %w", n, err)
			}
		}
		return nil
	})
}

// Options that don't fit their call, or each other, are errors that say so.
func TestOptions(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		b := make([]byte, 1)
		two := []Option{Sync, ReadyMode}
		if err := Send(ctx, c, b, ProcNull, 0); err != nil {
			return err
		}
		if err := Send(ctx, c, b, 0, 5); err != nil {
			return err
		}
		m, err := c.Mprobe(ctx, 0, 5)
		if err != nil {
			return err
		}
		wait := func(q Request) error { _, err := q.Wait(ctx); return err }
		second := func(_ Status, err error) error { return err }
		for _, call := range []struct {
			what string
			err  error
			want string
		}{
			{"two modes", Send(ctx, c, b, 0, 0, two...), "a send is Sync or ReadyMode"},
			{"two modes, nonblocking", wait(Isend(c, b, 0, 0, two...)), "a send is Sync or ReadyMode"},
			{"no such mode", Send(ctx, c, b, 0, 0, Mode(77)), "there is no Mode(77)"},
			{"a receive", second(Recv(ctx, c, b, 0, 0, Sync)), "Sync is a send's"},
			{"a receive, nonblocking", wait(Irecv(c, b, 0, 0, Standard)), "Standard is a send's"},
			{"a matched receive", second(RecvMessage(ctx, m, b, Sync)), "Sync is a send's"},
		} {
			if !errors.Is(call.err, ErrOption) || !strings.Contains(call.err.Error(), call.want) {
				t.Errorf("%s: %v, expected %q", call.what, call.err, call.want)
			}
		}
		if _, err := RecvMessage(ctx, m, b, nil); err != nil {
			t.Errorf("a matched receive with no option, after one with a wrong one: %v", err)
		}
		for _, opts := range [][]Option{{nil}, {nil, Sync, nil}, {Sync, Sync}, {Standard}, {Buffered}, {ReadyMode}} {
			for _, n := range []int{0, 100, 100000} {
				r := Irecv(c, make([]byte, n), 0, 0, nil)
				if err := errors.Join(Send(ctx, c, make([]byte, n), 0, 0, opts...), wait(r)); err != nil {
					t.Errorf("%v, %d bytes: %v", opts, n, err)
				}
				if err := Send(ctx, c, make([]byte, n), ProcNull, 0, opts...); err != nil {
					t.Errorf("%v, to nobody: %v", opts, err)
				}
				if err := wait(Isend(c, make([]byte, n), ProcNull, 0, opts...)); err != nil {
					t.Errorf("%v, to nobody, nonblocking: %v", opts, err)
				}
			}
			if err := Send(ctx, c, b, 1, 0, opts...); !errors.Is(err, ErrRank) {
				t.Errorf("%v, to a rank that isn't there: %v", opts, err)
			}
			if err := wait(Isend(c, b, 0, -1, opts...)); !errors.Is(err, ErrTag) {
				t.Errorf("%v, with a tag that isn't one: %v", opts, err)
			}
		}
		if got := slices.Collect(func(yield func(string) bool) {
			for m := Standard; m <= ReadyMode; m++ {
				yield(m.String())
			}
		}); !slices.Equal(got, []string{"Standard", "Sync", "Buffered", "ReadyMode"}) {
			t.Errorf("%v", got)
		}
		return nil
	})
}
