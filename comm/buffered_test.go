package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Rule 8: a send in Buffered mode is over when it returns, whatever its length and
// the state of the device: its buffer may be scribbled over, and it doesn't wait for a
// receiver that isn't there. What was sent arrives, in order.
func TestRule8Buffered(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		const rounds = 3 // of messages that wait, so that credits and slots run out
		n := 0
		for range rounds {
			for i, size := range edges {
				buf := make([]byte, size)
				pattern(buf, n)
				if i%2 == 0 {
					if err := Send(ctx, c, buf, peer, 1, Buffered); err != nil {
						return err
					}
				} else if _, done, err := Isend(c, buf, peer, 1, Buffered).Test(); !done || err != nil {
					return fmt.Errorf("Isend of %d bytes isn't over, %w", size, err)
				}
				for i := range buf {
					buf[i] = 0xee
				}
				n++
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		for k := range n {
			want := make([]byte, edges[k%len(edges)])
			pattern(want, k)
			got := make([]byte, len(want))
			st, err := Recv(ctx, c, got, peer, 1)
			if err != nil || st != (Status{peer, 1, int64(len(want))}) || !bytes.Equal(got, want) {
				return fmt.Errorf("message %d: %+v, wrong content, %w", k, st, err)
			}
		}
		if err := c.World().Flush(ctx); err != nil {
			return err
		}
		w := c.World()
		w.eng.Lock()
		defer w.eng.Unlock()
		if b := &w.buffers; b.used != 0 || len(b.held) != 0 {
			return fmt.Errorf("after Flush %d messages, %d bytes are held", len(b.held), b.used)
		}
		return nil
	})
}

// Rule 8: a full buffer is reported, and costs nothing but that message; when it is
// empty again, there is room again.
func TestRule8BufferFull(t *testing.T) {
	const limit, n = 100_000, 20_000
	run(t, 2, Config{BufferLimit: limit}, func(ctx context.Context, c *Comm) error {
		peer := 1 - c.Rank()
		if err := c.Barrier(ctx); err != nil { // so that there is a connection
			return err
		}
		for range 3 {
			for range limit / (n + heldSize) {
				if err := Send(ctx, c, make([]byte, n), peer, 1, Buffered); err != nil {
					return err
				}
			}
			err := Send(ctx, c, make([]byte, n), peer, 1, Buffered)
			if !errors.Is(err, ErrBuffer) || !strings.Contains(err.Error(), "4 messages") || !strings.Contains(err.Error(), "81024 of 100000 bytes") {
				return fmt.Errorf("the fifth message: %w", err)
			}
			if _, err := Isend(c, make([]byte, n), peer, 1, Buffered).Wait(ctx); !errors.Is(err, ErrBuffer) {
				return fmt.Errorf("the fifth message, nonblocking: %w", err)
			}
			// What leaves at once needs no buffer.
			if err := Send(ctx, c, make([]byte, 100), peer, 2, Buffered); err != nil {
				return err
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if err := c.World().Flush(ended); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "4 messages of buffered sends, 81024 bytes") {
				return fmt.Errorf("Flush without time: %w", err)
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			for range 4 {
				if _, err := Recv(ctx, c, make([]byte, n), peer, 1); err != nil {
					return err
				}
			}
			if _, err := Recv(ctx, c, make([]byte, 100), peer, 2); err != nil {
				return err
			}
			if err := c.World().Flush(ctx); err != nil {
				return err
			}
			if _, found, err := c.Iprobe(AnySource, AnyTag); found || err != nil {
				return fmt.Errorf("a message more, %w", err)
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rule 8: without any memory only what leaves at once can be sent.
func TestRule8NoBuffer(t *testing.T) {
	run(t, 1, Config{BufferLimit: -1}, func(ctx context.Context, c *Comm) error {
		if err := Send(ctx, c, make([]byte, 100), 0, 1, Buffered); err != nil {
			t.Error(err)
		}
		if err := Send(ctx, c, make([]byte, 100_000), 0, 1, Buffered); !errors.Is(err, ErrBuffer) {
			t.Error(err)
		}
		_, err := Recv(ctx, c, make([]byte, 100), 0, 1)
		return err
	})
}

// A rank that closes its world when its buffered messages are still under way: they
// are received all the same, long ones and those that had no credits.
func TestCloseSendsBuffered(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		const count = 400
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			if c.Rank() == 0 {
				for i := range count {
					n := 100
					if i%100 == 99 {
						n = 100_000
					}
					buf := bytes.Repeat([]byte{byte(i)}, n)
					if err := Send(ctx, c, buf, 1, 1, Buffered); err != nil {
						return err
					}
				}
				return nil
			}
			for i := range count {
				buf, st, err := RecvAppend(ctx, c, []byte(nil), 0, 1)
				if err != nil || buf[0] != byte(i) || buf[len(buf)-1] != byte(i) {
					return fmt.Errorf("message %d: %+v, %w", i, st, err)
				}
			}
			return nil
		})
	})
}

// Buffered messages that nobody will receive don't keep Close waiting: it says whose
// they were. All do so at once, to each other and to themselves.
func TestCloseWithoutReceiver(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		errs := runErrors(t, n, Config{}, func(ctx context.Context, c *Comm) error {
			for r := range n {
				if err := Send(ctx, c, make([]byte, 100_000), r, 7, Buffered); err != nil {
					return err
				}
			}
			return nil
		})
		for r, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "tag 7, 100000 B") {
				t.Errorf("%d ranks, rank %d: %v", n, r, err)
			}
		}
	}
}

// A buffered message whose receiver dies is reported once, by Flush.
func TestFlushReportsLoss(t *testing.T) {
	errs := runErrors(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			if _, err := Recv(ctx, c, make([]byte, 1), 0, 1); err != nil {
				return err
			}
			return errors.New("dies")
		}
		if err := Send(ctx, c, make([]byte, 100_000), 1, 2, Buffered); err != nil {
			return err
		}
		if err := Send(ctx, c, make([]byte, 1), 1, 1); err != nil {
			return err
		}
		var gone *PeerError
		if err := c.World().Flush(ctx); !errors.As(err, &gone) || gone.Rank != 1 {
			return fmt.Errorf("Flush: %w", err)
		}
		if err := c.World().Flush(ctx); err != nil {
			return fmt.Errorf("Flush once more: %w", err)
		}
		if err := Send(ctx, c, make([]byte, 100_000), 1, 2, Buffered); !errors.As(err, &gone) {
			return fmt.Errorf("Send to a dead rank: %w", err)
		}
		return errExpected
	})
	if errs[0] != errExpected {
		t.Errorf("%v", errs[0])
	}
}

// Rules 8 and 18: a rank that closes its world while more waits for it than it lets a
// sender send: the sender's Close gives up what is left, and both end.
func TestCloseOverQuota(t *testing.T) {
	for _, mode := range []Mode{Buffered, Standard} {
		const limit = 64 << 10
		errs := runErrors(t, 2, Config{UnexpectedLimit: limit, Slots: 8}, func(ctx context.Context, c *Comm) error {
			if c.Rank() == 1 {
				_, err := Recv(ctx, c, []byte(nil), 0, 1)
				return err
			}
			if err := Send(ctx, c, []byte(nil), 1, 1); err != nil {
				return err
			}
			for range 100 {
				if err := Send(ctx, c, make([]byte, 10_000), 1, 2, mode); err != nil && !errors.Is(err, ErrFinished) {
					return err
				}
			}
			return nil
		})
		if errs[1] != nil || errs[0] != nil && !errors.Is(errs[0], ErrFinished) {
			t.Errorf("%v: %v", mode, errs)
		}
	}
}
