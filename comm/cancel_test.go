package comm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// Receives and sends are given up all the time, in many goroutines: what was given
// up has had no effect, and everything else comes once, in order.
func TestCancelled(t *testing.T) {
	rounds := 120
	if testing.Short() || raceEnabled {
		rounds = 30
	}
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			const pairs = 6
			var mu sync.Mutex
			var errs []error
			var wg sync.WaitGroup
			for tag := range pairs {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(tag), uint64(c.Rank())))
					f := receiveAll
					if tag%2 == c.Rank() {
						f = sendAll
					}
					if err := f(ctx, c, tag, rounds, rng); err != nil {
						mu.Lock()
						errs = append(errs, fmt.Errorf("tag %d: %w", tag, err))
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			return errors.Join(errs...)
		})
	})
}

// soon is a context that ends at once, soon, or not at all.
func soon(ctx context.Context, rng *rand.Rand) (context.Context, context.CancelFunc) {
	switch rng.IntN(4) {
	case 0:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	case 1:
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(rng.IntN(400))*time.Microsecond)
}

func sendAll(ctx context.Context, c *Comm, tag, rounds int, rng *rand.Rand) error {
	for i := 0; i < rounds; {
		buf := make([]uint32, 1+[]int{0, 30, 300, 3000, 30_000}[rng.IntN(5)])
		for k := range buf {
			buf[k] = uint32(i)
		}
		short, cancel := soon(ctx, rng)
		err := Send(short, c, buf, 1-c.Rank(), tag)
		cancel()
		switch {
		case err == nil:
			i++
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) || ctx.Err() != nil:
			return fmt.Errorf("send %d: %w", i, err)
		}
		for k := range buf {
			buf[k] = 1 << 31 // a message that was given up must not come, nor one that left change
		}
	}
	return nil
}

func receiveAll(ctx context.Context, c *Comm, tag, rounds int, rng *rand.Rand) error {
	buf := make([]uint32, 30_001)
	for i := 0; i < rounds; {
		for k := range buf {
			buf[k] = 1 << 30
		}
		source := 1 - c.Rank()
		if rng.IntN(3) == 0 {
			source = AnySource
		}
		short, cancel := soon(ctx, rng)
		var s Status
		var err error
		if rng.IntN(2) == 0 {
			s, err = Recv(short, c, buf, source, tag)
		} else {
			r := Irecv(c, buf, source, tag)
			if s, err = r.Wait(short); err != nil && ctx.Err() == nil {
				s, err = r.Wait(ctx) // it goes on
			}
		}
		cancel()
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) || ctx.Err() != nil {
				return fmt.Errorf("receive %d: %w", i, err)
			}
			if buf[0] != 1<<30 {
				return fmt.Errorf("receive %d was given up, and the buffer has %d", i, buf[0])
			}
			continue
		}
		n, err := Count[uint32](s)
		if err != nil || s.Source != 1-c.Rank() || s.Tag != tag || n == 0 {
			return fmt.Errorf("receive %d: %+v, %w", i, s, err)
		}
		for k, v := range buf {
			want := uint32(1 << 30)
			if k < n {
				want = uint32(i)
			}
			if v != want {
				return fmt.Errorf("receive %d of %d elements: element %d is %d, want %d", i, n, k, v, want)
			}
		}
		i++
	}
	return nil
}
