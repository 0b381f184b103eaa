package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// Rule 10: a persistent send and a persistent receive, started again and again, in every
// mode and by every protocol, the receive first and the send first.
func TestRule10Persistent(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		modes := []Option{Standard, Sync, Buffered, ReadyMode}
		for i, n := range edges {
			out, in := make([]byte, n), make([]byte, n)
			s := SendInit(c, out, peer, i, modes[i%len(modes)])
			r := RecvInit(c, in, peer, AnyTag)
			for round := range 6 {
				pattern(out, round)
				clear(in)
				var sent, got Request
				if round%2 == 0 {
					got, sent = r.Start(), s.Start()
				} else {
					sent, got = s.Start(), r.Start()
				}
				want := Status{peer, i, int64(n)}
				if st, err := got.Wait(ctx); err != nil || st != want {
					return fmt.Errorf("%d bytes, round %d: %+v, %w", n, round, st, err)
				}
				if _, err := sent.Wait(ctx); err != nil {
					return err
				}
				if expected := make([]byte, n); n > 0 {
					pattern(expected, round)
					if !bytes.Equal(in, expected) {
						return fmt.Errorf("%d bytes, round %d: wrong content", n, round)
					}
				}
			}
		}
		return nil
	})
}

// Rule 10: starting an active one is an error, and leaves the first start alone; that
// it was over at once doesn't make it inactive, but its Wait does.
func TestRule10Active(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, n := range edges {
			out, in := make([]byte, n), make([]byte, n)
			s, r := SendInit(c, out, peer, 1), RecvInit(c, in, peer, 1)
			got, sent := r.Start(), s.Start()
			for _, p := range []*Persistent{s, r} {
				if _, err := p.Start().Wait(ctx); !errors.Is(err, ErrActive) {
					return fmt.Errorf("%d bytes: started twice: %w", n, err)
				}
			}
			if _, err := got.Wait(ctx); err != nil {
				return err
			}
			if _, err := s.Start().Wait(ctx); !errors.Is(err, ErrActive) {
				return fmt.Errorf("%d bytes: started when complete, and not waited for: %w", n, err)
			}
			if _, err := sent.Wait(ctx); err != nil {
				return err
			}
			if _, err := sent.Wait(ctx); !errors.Is(err, ErrDone) {
				return fmt.Errorf("%d bytes: waited for twice: %w", n, err)
			}
			if err := WaitAll(ctx, r.Start(), s.Start()); err != nil {
				return fmt.Errorf("%d bytes, started again: %w", n, err)
			}
			if _, found, err := c.Iprobe(peer, AnyTag); found || err != nil {
				return fmt.Errorf("%d bytes: a message too many, %w", n, err)
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rule 10: many that were made and never started, or dropped after a round, leave
// nothing: no request, no message, no memory.
func TestRule10NeverStarted(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		w := c.World()
		in, out := make([]byte, 1<<20), make([]byte, 1<<20)
		live := func() (bytes uint64, requests int) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc, len(w.requests)
		}
		if err := WaitAll(ctx, RecvInit(c, in, 0, 1).Start(), SendInit(c, out, 0, 1).Start()); err != nil {
			return err
		}
		before, requests := live()
		for range 100_000 {
			SendInit(c, out, 0, 1)
			RecvInit(c, in, 0, AnyTag)
			PsendInit(c, out, 16, 0, 1)
			PrecvInit(c, in, 16, 0, 1)
		}
		after, more := live()
		if more != requests || after > before+64<<10 {
			t.Errorf("%d bytes more, %d requests more", int64(after-before), more-requests)
		}
		if w.active != 0 || w.table.NumPosted() != 0 || w.table.NumUnexpected() != 0 {
			t.Errorf("%d requests are active, %d receives, %d messages wait", w.active, w.table.NumPosted(), w.table.NumUnexpected())
		}
		return nil
	})
}

// A bad argument comes out of every Wait; so does a failure; and Cancel gives a round
// up, not the rest.
func TestPersistentErrors(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		b := make([]byte, 100)
		for range 2 {
			for _, p := range []struct {
				*Persistent
				want error
			}{
				{SendInit(c, b, 2, 0), ErrRank},
				{SendInit(c, b, AnySource, 0), ErrRank},
				{SendInit(c, b, 0, -1), ErrTag},
				{SendInit(c, []*int{nil}, 0, 0), ErrType},
				{SendInit(c, b, 0, 0, Sync, Buffered), ErrOption},
				{SendInit(c, b, 0, 0, Strided(2, 1, 100)), ErrLayout},
				{RecvInit(c, b, 2, 0), ErrRank},
				{RecvInit(c, []string{""}, 0, 0), ErrType},
				{RecvInit(c, b, 0, 0, Sync), ErrOption},
				{SendInit(c, b, ProcNull, 0), nil},
				{RecvInit(c, b, ProcNull, 0), nil},
			} {
				for range 2 {
					if _, err := p.Start().Wait(ctx); !errors.Is(err, p.want) {
						t.Errorf("%s(%d, %d): %v, expected %v", p.op, p.peer, p.tag, err, p.want)
					}
				}
			}
		}
		dup, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		p := SendInit(dup, b, 0, 0)
		if err := dup.Free(); err != nil {
			return err
		}
		if _, err := p.Start().Wait(ctx); !errors.Is(err, ErrFreed) {
			t.Errorf("on a communicator that was freed: %v", err)
		}
		peer := 1 - c.Rank()
		r := RecvInit(c, b[:50], peer, 3)
		for range 3 {
			q := r.Start()
			q.Cancel()
			if _, err := q.Wait(ctx); !errors.Is(err, ErrCanceled) {
				t.Errorf("canceled: %v", err)
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		q := r.Start()
		if err := Send(ctx, c, make([]byte, 70), peer, 3); err != nil {
			return err
		}
		if st, err := q.Wait(ctx); !errors.Is(err, ErrTruncated) || st.Bytes != 70 {
			t.Errorf("a longer message: %+v, %v", st, err)
		}
		q = r.Start()
		if err := Send(ctx, c, make([]byte, 7), peer, 3); err != nil {
			return err
		}
		if st, err := q.Wait(ctx); err != nil || st.Bytes != 7 {
			t.Errorf("a message after it: %+v, %v", st, err)
		}
		return nil
	})
}

// Persistent requests with layouts: what the buffer has at each start is packed.
func TestPersistentLayouts(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, rows := range []int{3, 100, 5000} {
			out, in := make([]uint64, rows*4), make([]uint64, rows*2)
			s := SendInit(c, out, peer, 1, Strided(rows, 1, 4))
			r := RecvInit(c, in, peer, 1, Strided(rows, 1, 2))
			for round := range 4 {
				for i := range out {
					out[i] = uint64(round*1000000 + i)
				}
				clear(in)
				if err := WaitAll(ctx, StartAll(nil, []*Persistent{s, r})...); err != nil {
					return err
				}
				for i := range rows {
					if in[2*i] != out[4*i] || in[2*i+1] != 0 {
						return fmt.Errorf("%d rows, round %d: row %d is %d and %d", rows, round, i, in[2*i], in[2*i+1])
					}
				}
			}
		}
		return nil
	})
}

// Start and Wait allocate nothing, one by one and all together.
func TestPersistentNoAllocations(t *testing.T) {
	for _, n := range []int{0, 64, 16384} {
		run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
			ctx = context.WithoutCancel(ctx)
			out, in := make([]byte, n), make([]byte, n)
			all := []*Persistent{RecvInit(c, in, 0, 1), SendInit(c, out, 0, 1), RecvInit(c, in, 0, 2), SendInit(c, out, 0, 2, Sync)}
			requests := make([]Request, 0, len(all))
			results := make([]Result, len(all))
			var failed error
			if got := testing.AllocsPerRun(1000, func() {
				requests = StartAll(requests[:0], all)
				if err := WaitAllInto(ctx, requests, results); err != nil {
					failed = err
				}
				r, s := all[0].Start(), all[1].Start()
				if _, err := s.Wait(ctx); err != nil {
					failed = err
				}
				if _, err := r.Wait(ctx); err != nil {
					failed = err
				}
			}); got != 0 {
				t.Errorf("%d bytes: %v allocations in a round", n, got)
			}
			return failed
		})
	}
}
