package comm

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

type point struct {
	X, Y float64
	ID   int32
	Tail [3]uint16
}

// Single values of several sizes come as they were sent, larger than the eager
// limit included.
func TestOne(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			for i := range 50 {
				p := point{X: float64(i), Y: -1, ID: int32(i), Tail: [3]uint16{1, 2, uint16(i)}}
				var large [40_000]int16
				large[i], large[len(large)-1] = 7, int16(i)
				errs := []error{
					bounce(ctx, c, byte(i)), bounce(ctx, c, float64(i)/3), bounce(ctx, c, p), bounce(ctx, c, large),
				}
				if err := errors.Join(errs...); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// bounce passes a value to rank 1, which sends it back.
func bounce[T comparable](ctx context.Context, c *Comm, v T) error {
	if c.Rank() == 0 {
		if err := SendOne(ctx, c, v, 1, 3); err != nil {
			return err
		}
	}
	got, s, err := RecvOne[T](ctx, c, 1-c.Rank(), AnyTag)
	if err != nil {
		return err
	}
	if got != v || s.Source != 1-c.Rank() || s.Tag != 3 {
		return fmt.Errorf("got %v with %+v, want %v", got, s, v)
	}
	if c.Rank() == 1 {
		return SendOne(ctx, c, got, 0, 3)
	}
	return nil
}

// What is not exactly one value is an error which says how long it is, and the
// next message is right.
func TestOneRefuses(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		for _, x := range []struct {
			n  int
			is error
		}{{0, ErrShort}, {4, ErrShort}, {9, ErrTruncated}, {16, ErrTruncated}} {
			if err := Send(ctx, c, make([]byte, x.n), 0, 1); err != nil {
				return err
			}
			v, s, err := RecvOne[float64](ctx, c, 0, 1)
			var e *Error
			if !errors.Is(err, x.is) || !errors.As(err, &e) || e.Op != "RecvOne" || e.Bytes != 8 || v != 0 || s.Bytes != int64(x.n) {
				t.Errorf("%d bytes: %v, %+v, %v", x.n, v, s, err)
			}
		}
		if v, s, err := RecvOne[int32](ctx, c, ProcNull, 1); v != 0 || s.Source != ProcNull || err != nil {
			t.Errorf("from ProcNull: %v, %+v, %v", v, s, err)
		}
		if err := SendOne(ctx, c, 1.5, ProcNull, 1); err != nil {
			t.Error(err)
		}
		if err := SendOne(ctx, c, "text", 0, 1); !errors.Is(err, ErrType) {
			t.Errorf("a string: %v", err)
		}
		if _, _, err := RecvOne[*int](ctx, c, 0, 1); !errors.Is(err, ErrType) {
			t.Errorf("a pointer: %v", err)
		}
		if err := SendOne(ctx, c, 1.5, 1, 1); !errors.Is(err, ErrRank) {
			t.Errorf("rank 1: %v", err)
		}
		return bounceSelf(ctx, c)
	})
}

func bounceSelf(ctx context.Context, c *Comm) error {
	if err := SendOne(ctx, c, 2.5, 0, 1); err != nil {
		return err
	}
	if v, _, err := RecvOne[float64](ctx, c, 0, 1); err != nil || v != 2.5 {
		return fmt.Errorf("the next message: %v, %w", v, err)
	}
	return nil
}
