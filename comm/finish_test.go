package comm

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A rank that has finished, while others still want something of it: each call fails
// with ErrFinished and its rank, whether or not there ever was a connection; what it
// had sent is delivered before; and the others are not disturbed.
func TestFinished(t *testing.T) {
	big := make([]byte, 100_000)
	for _, met := range []bool{true, false} {
		for _, v := range []struct {
			name string
			call func(ctx context.Context, c *Comm, b []byte) error
		}{
			{"Recv", func(ctx context.Context, c *Comm, b []byte) error { _, err := Recv(ctx, c, b, 2, 5); return err }},
			{"Irecv", func(ctx context.Context, c *Comm, b []byte) error { _, err := Irecv(c, b, 2, 5).Wait(ctx); return err }},
			{"Probe", func(ctx context.Context, c *Comm, b []byte) error { _, err := c.Probe(ctx, 2, 5); return err }},
			{"Mprobe", func(ctx context.Context, c *Comm, b []byte) error { _, err := c.Mprobe(ctx, 2, 5); return err }},
			{"RecvAppend", func(ctx context.Context, c *Comm, b []byte) error {
				_, _, err := RecvAppend[byte](ctx, c, nil, 2, 5)
				return err
			}},
			{"large Send", func(ctx context.Context, c *Comm, b []byte) error { return Send(ctx, c, big, 2, 5) }},
			{"Sendrecv", func(ctx context.Context, c *Comm, b []byte) error {
				_, err := Sendrecv(ctx, c, b, 1-c.Rank(), 6, b[:1], 2, 5)
				if errors.Is(err, ErrFinished) { // what the other one sent is there
					_, err2 := Recv(ctx, c, b, 1-c.Rank(), 6)
					err = errors.Join(err, err2)
				}
				return err
			}},
		} {
			t.Run(fmt.Sprintf("%s/met %v", v.name, met), func(t *testing.T) {
				run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
					b := make([]byte, 8)
					if c.Rank() == 2 {
						for r := range 2 {
							if met {
								if err := Send(ctx, c, []byte{7}, r, 1); err != nil {
									return err
								}
							}
						}
						return nil
					}
					err := v.call(ctx, c, b)
					var gone *PeerError
					if !errors.As(err, &gone) || gone.Rank != 2 || !errors.Is(err, ErrFinished) {
						return fmt.Errorf("%w", err)
					}
					if met {
						if s, err := Recv(ctx, c, b, 2, 1); err != nil || s.Bytes != 1 || b[0] != 7 {
							return fmt.Errorf("what it had sent: %+v, %w", s, err)
						}
					}
					// It is known by now: everything fails at once.
					for _, f := range []func() error{
						func() error { _, err := Recv(ctx, c, b, 2, 5); return err },
						func() error { return Send(ctx, c, b, 2, 5) },
						func() error { return Send(ctx, c, big, 2, 5) },
						func() error { _, err := Isend(c, b, 2, 5).Wait(ctx); return err },
						func() error { _, _, err := c.Iprobe(2, 5); return err },
					} {
						if err := f(); !errors.Is(err, ErrFinished) {
							return fmt.Errorf("afterwards: %w", err)
						}
					}
					_, err = Sendrecv(ctx, c, []byte{1}, 1-c.Rank(), 8, b[:1], 1-c.Rank(), 8)
					return err
				})
			})
		}
	}
}

// A receive from any source goes on when a rank finishes, and ends with an error
// when nobody is left.
func TestFinishedAnySource(t *testing.T) {
	run(t, 4, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() != 0 {
			for range c.Rank() * 10 {
				if err := Send(ctx, c, []byte{1}, 0, 1); err != nil {
					return err
				}
			}
			return nil
		}
		b := make([]byte, 1)
		for i := range 60 {
			if _, err := Recv(ctx, c, b, AnySource, 1); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		if _, err := Recv(ctx, c, b, AnySource, 1); err == nil || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("when all have finished: %w", err)
		}
		_, err := c.Probe(ctx, AnySource, AnyTag)
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("Probe when all have finished: %w", err)
		}
		return nil
	})
}

// A rank that has finished is an error on the communicators that it was in: for what
// waits for any source where nobody else is left, and for the calls of all ranks. It
// was a hang there.
func TestFinishedInPart(t *testing.T) {
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		color := 0
		if c.Rank() == 2 {
			color = Undefined
		}
		pair, err := c.Split(ctx, color, -c.Rank())
		if err != nil || c.Rank() == 1 {
			return err
		}
		b := []byte{0}
		if c.Rank() == 2 {
			if _, err := Recv(ctx, c, b, 0, 1); err != nil {
				return err
			}
			return Send(ctx, c, b, 0, 2)
		}
		if _, err := Recv(ctx, pair, b, AnySource, AnyTag); !errors.Is(err, errAllFinished) {
			return fmt.Errorf("a receive: %w", err)
		}
		if _, err := pair.Probe(ctx, AnySource, AnyTag); !errors.Is(err, errAllFinished) {
			return fmt.Errorf("a probe: %w", err)
		}
		for name, f := range map[string]func() error{
			"Barrier": func() error { return pair.Barrier(ctx) },
			"Dup":     func() error { _, err := pair.Dup(ctx); return err },
			"Split":   func() error { _, err := pair.Split(ctx, 0, 0); return err },
			"Create":  func() error { _, err := pair.Create(ctx, pair.Group(), 0); return err },
			"Hidden":  func() error { return pair.Hidden().Barrier(ctx) },
		} {
			var gone *PeerError
			if err := f(); !errors.As(err, &gone) || gone.Rank != 1 || !errors.Is(err, ErrFinished) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := Send(ctx, c, b, 2, 1); err != nil {
			return err
		}
		_, err = Recv(ctx, c, b, AnySource, 2)
		return err
	})
}
