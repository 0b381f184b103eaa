package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// Many goroutines share a source and a tag: each message is received once, with
// its own content, by a buffer of its length.
func TestMprobeShared(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 3, cfg, func(ctx context.Context, c *Comm) error {
			const count, workers = 120, 4
			if c.Rank() != 0 {
				for i := range count {
					n := sizes[i%(len(sizes)-3)]
					buf := make([]byte, n+1)
					pattern(buf, n)
					buf[n] = byte(i)
					if err := Send(ctx, c, buf, 0, i); err != nil {
						return err
					}
				}
				return nil
			}
			var seen [3][count]atomic.Int32
			errs := make([]error, workers)
			var left atomic.Int64
			left.Store(2 * count)
			var wg sync.WaitGroup
			for k := range workers {
				wg.Go(func() {
					for left.Add(-1) >= 0 && errs[k] == nil {
						m, err := c.Mprobe(ctx, AnySource, AnyTag)
						if err != nil {
							errs[k] = err
							return
						}
						s := m.Status()
						seen[s.Source][s.Tag].Add(1)
						errs[k] = received(ctx, m)
					}
				})
			}
			wg.Wait()
			for _, rank := range []int{1, 2} {
				for i := range count {
					if n := seen[rank][i].Load(); n != 1 {
						return errors.Join(append(errs, fmt.Errorf("message %d of rank %d came %d times", i, rank, n))...)
					}
				}
			}
			return errors.Join(errs...)
		})
	})
}

// received receives a message of TestMprobeShared and checks it.
func received(ctx context.Context, m *Message) error {
	s := m.Status()
	got := make([]byte, s.Bytes)
	if r, err := RecvMessage(ctx, m, got); err != nil || r != s {
		return fmt.Errorf("%+v, then %+v, %w", s, r, err)
	}
	n := len(got) - 1
	want := make([]byte, n+1)
	pattern(want, n)
	want[n] = byte(s.Tag)
	if n != sizes[s.Tag%(len(sizes)-3)] || !bytes.Equal(got, want) {
		return fmt.Errorf("%+v: wrong content", s)
	}
	return nil
}

// A matched probe takes its turn among the receives, and what it has taken no
// receive gets.
func TestMprobeOrder(t *testing.T) {
	for _, n := range []int{1, 1000, 100_000} {
		run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
			first, third := make([]byte, n), make([]byte, n)
			one := Irecv(c, first, 0, 1)
			found := make(chan *Message, 1)
			go func() {
				m, err := c.Mprobe(ctx, 0, 1)
				if err != nil {
					t.Error(err)
				}
				found <- m
			}()
			waitFor(ctx, c, func(w *World) bool { return w.table.NumPosted() == 2 })
			three := Irecv(c, third, 0, 1)
			for i := byte(1); i <= 3; i++ {
				if err := Send(ctx, c, bytes.Repeat([]byte{i}, n), 0, 1); err != nil {
					return err
				}
			}
			second := make([]byte, n)
			if _, err := RecvMessage(ctx, <-found, second); err != nil {
				return err
			}
			if err := WaitAll(ctx, one, three); err != nil {
				return err
			}
			if first[0] != 1 || second[0] != 2 || third[0] != 3 || second[n-1] != 2 {
				return fmt.Errorf("%d bytes: came as %d, %d, %d", n, first[0], second[0], third[0])
			}
			return nil
		})
	}
}

// A message is received once, in part if the buffer is too short, and a context
// that has ended leaves it to be received.
func TestRecvMessage(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 0 {
			for _, n := range []int{10, 100_000, 0} {
				if err := Send(ctx, c, bytes.Repeat([]byte{9}, n), 1, 1); err != nil {
					return err
				}
			}
			return nil
		}
		for _, n := range []int{10, 100_000} {
			m, err := c.Mprobe(ctx, 0, 1)
			if err != nil {
				return err
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := RecvMessage(ended, m, make([]byte, n)); !errors.Is(err, context.Canceled) {
				t.Errorf("a context that has ended: %v", err)
			}
			buf := bytes.Repeat([]byte{0xee}, n)
			if s, err := RecvMessage(ctx, m, buf[:7]); !errors.Is(err, ErrTruncated) || s.Bytes != int64(n) {
				t.Errorf("%d bytes into 7: %+v, %v", n, s, err)
			}
			if buf[6] != 9 || buf[7] != 0xee {
				t.Errorf("%d bytes into 7: %v", n, buf[:10])
			}
			if _, err := RecvMessage(ctx, m, buf); !errors.Is(err, ErrDone) {
				t.Errorf("a second time: %v", err)
			}
		}
		m, err := c.Mprobe(ctx, AnySource, AnyTag)
		if err != nil {
			return err
		}
		if s, err := RecvMessage(ctx, m, []byte{1}); err != nil || (s != Status{0, 1, 0}) {
			t.Errorf("an empty message: %+v, %v", s, err)
		}
		if m, err = c.Mprobe(ctx, ProcNull, 1); err != nil || m.Status().Source != ProcNull {
			t.Errorf("from ProcNull: %v, %v", m, err)
		}
		if s, err := RecvMessage(ctx, m, []byte{1}); err != nil || s.Source != ProcNull || s.Bytes != 0 {
			t.Errorf("from ProcNull: %+v, %v", s, err)
		}
		return nil
	})
}

// A long message whose sender is gone before it is received is an error.
func TestRecvMessageGone(t *testing.T) {
	errs := runErrors(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 0 {
			Isend(c, make([]byte, 1<<20), 1, 1)
			return errors.New("I give up")
		}
		m, err := c.Mprobe(ctx, 0, 1)
		if err != nil {
			return err
		}
		if _, err := c.Probe(ctx, 0, 2); err == nil { // which ends when rank 0 has
			t.Error("Probe has found something")
		}
		var gone *PeerError
		if _, err := RecvMessage(ctx, m, make([]byte, 1<<20)); !errors.As(err, &gone) || gone.Rank != 0 {
			t.Errorf("got %v", err)
		}
		return nil
	})
	var gone *PeerError
	if errs[1] != nil && !errors.As(errs[1], &gone) { // the closing barrier may name rank 0
		t.Error(errs[1])
	}
}
