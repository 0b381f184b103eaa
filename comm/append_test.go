package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// A message of any length is appended, whether it has come already or is waited
// for, and a slice with room stays where it is.
func TestRecvAppend(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			for i, n := range sizes {
				want := make([]byte, n)
				pattern(want, i)
				if c.Rank() == 0 {
					r := Isend(c, want, 1, 1) // which may come before its receive
					if err := Send(ctx, c, []byte(nil), 1, 2); err != nil {
						return err
					}
					if _, err := r.Wait(ctx); err != nil {
						return err
					}
					if _, err := Recv(ctx, c, []byte(nil), 1, 3); err != nil { // which is posted
						return err
					}
					if err := Send(ctx, c, want, 1, 1); err != nil {
						return err
					}
					continue
				}
				if _, err := Recv(ctx, c, []byte(nil), 0, 2); err != nil {
					return err
				}
				got, s, err := RecvAppend[byte](ctx, c, nil, 0, AnyTag)
				if err != nil || !bytes.Equal(got, want) || (s != Status{0, 1, int64(n)}) {
					return fmt.Errorf("%d bytes to nil: %d, %+v, %v", n, len(got), s, err)
				}
				answer := Isend(c, []byte(nil), 0, 3)
				full := append(make([]byte, 0, n+3), 7, 8)
				got, _, err = RecvAppend(ctx, c, full, AnySource, 1)
				if err != nil || !bytes.Equal(got[2:], want) || got[0] != 7 || got[1] != 8 {
					return fmt.Errorf("%d bytes to two: %d, %w", n, len(got), err)
				}
				if &got[0] != &full[0] {
					return fmt.Errorf("%d bytes: a slice with room was moved", n)
				}
				if _, err := answer.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// What can't be appended leaves the slice as it was; the next message is right.
func TestRecvAppendRefuses(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 0 {
			for _, n := range []int{7, 100_001, 8} {
				if err := Send(ctx, c, make([]byte, n), 1, 1); err != nil {
					return err
				}
			}
			return c.Barrier(ctx) // its end would be heard
		}
		had := []uint64{5}
		for _, n := range []int64{7, 100_001} {
			got, s, err := RecvAppend(ctx, c, had, 0, 1)
			var e *Error
			if !errors.Is(err, ErrType) || !errors.As(err, &e) || e.Op != "RecvAppend" || s.Bytes != n || len(got) != 1 {
				t.Errorf("%d bytes: %v, %+v, %v", n, got, s, err)
			}
		}
		if got, _, err := RecvAppend(ctx, c, had, 0, 1); err != nil || len(got) != 2 || got[0] != 5 || got[1] != 0 {
			t.Errorf("the next message: %v, %v", got, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if got, _, err := RecvAppend(ended, c, had, 0, 1); !errors.Is(err, context.Canceled) || len(got) != 1 {
			t.Errorf("a context that has ended: %v, %v", got, err)
		}
		if got, s, err := RecvAppend(ctx, c, had, ProcNull, 1); err != nil || len(got) != 1 || s.Source != ProcNull {
			t.Errorf("from ProcNull: %v, %+v, %v", got, s, err)
		}
		if _, _, err := RecvAppend(ctx, c, had, 2, 1); !errors.Is(err, ErrRank) {
			t.Errorf("rank 2: %v", err)
		}
		if _, _, err := RecvAppend(ctx, c, []string{"a"}, 0, 1); !errors.Is(err, ErrType) {
			t.Errorf("strings: %v", err)
		}
		return c.Barrier(ctx)
	})
}

// A message to this rank itself is appended too, though its sender waits for it.
func TestRecvAppendSelf(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		for i, n := range sizes {
			want := make([]byte, n)
			pattern(want, i)
			r := Isend(c, want, 0, 1)
			got, _, err := RecvAppend[byte](ctx, c, nil, AnySource, AnyTag)
			if err != nil || !bytes.Equal(got, want) {
				return fmt.Errorf("%d bytes: %d, %w", n, len(got), err)
			}
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
