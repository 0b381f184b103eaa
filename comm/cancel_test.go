package comm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// Rule 12: receives and sends are given up all the time, in many goroutines, by contexts and
// by Cancel: what was given up has had no effect, everything else comes once, in
// order, and nobody reads or writes a buffer after its call has returned. With
// VERBENA_LONG=1 it takes 20,000 messages a pair, and the garbage collector never
// stops.
func TestCancelled(t *testing.T) {
	rounds := 120
	switch {
	case os.Getenv("VERBENA_LONG") != "":
		rounds = 20_000
		defer debug.SetGCPercent(debug.SetGCPercent(1))
		defer func(was time.Duration) { testLimit = was }(testLimit)
		testLimit = 20 * time.Minute
	case testing.Short() || raceEnabled:
		rounds = 30
	}
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error { return cancelled(ctx, c, rounds, cfg) })
	})
	t.Run("hosts", func(t *testing.T) {
		runHosts(t, []int{0, 1}, Config{}, func(ctx context.Context, c *Comm) error { return cancelled(ctx, c, rounds, Config{}) })
	})
}

// cancelled is what both ranks do in TestCancelled.
func cancelled(ctx context.Context, c *Comm, rounds int, cfg Config) error {
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
	if name := "device.reads." + cfg.Read; cfg.Read != "" && c.World().Info().Counters[name] == 0 {
		errs = append(errs, fmt.Errorf("%s is 0", name))
	}
	return errors.Join(errs...)
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
	direct := c.world.settings.Read.value.String() == "direct"
	for i := 0; i < rounds; {
		n := 1 + []int{0, 30, 300, 3000, 30_000}[rng.IntN(5)]
		buf := make([]uint32, n)
		if direct {
			buf = Alloc[uint32](c, n)
		}
		for k := range buf {
			buf[k] = uint32(i)
		}
		short, cancel := soon(ctx, rng)
		var err error
		if rng.IntN(2) == 0 {
			err = Send(short, c, buf, 1-c.Rank(), tag)
		} else {
			r := Isend(c, buf, 1-c.Rank(), tag)
			if _, err = r.Wait(short); err != nil && ctx.Err() == nil {
				r.Cancel()
				_, err = r.Wait(ctx) // which says whether that came in time
			}
		}
		cancel()
		switch {
		case err == nil:
			i++
		case errors.Is(err, ErrCanceled):
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) || ctx.Err() != nil:
			return fmt.Errorf("send %d: %w", i, err)
		}
		for k := range buf {
			buf[k] = 1 << 31 // a message that was given up must not come, nor one that left change
		}
		if direct {
			Free(c, buf)
		}
	}
	return nil
}

func receiveAll(ctx context.Context, c *Comm, tag, rounds int, rng *rand.Rand) error {
	bufs := newScribbled(30_001)
	for i := 0; i < rounds; {
		buf, err := bufs.next(1 << 30)
		if err != nil {
			return err
		}
		source := 1 - c.Rank()
		if rng.IntN(3) == 0 {
			source = AnySource
		}
		short, cancel := soon(ctx, rng)
		var s Status
		switch rng.IntN(6) {
		case 0:
			s, err = Recv(short, c, buf, source, tag)
		case 2:
			_, s, err = RecvAppend(short, c, buf[:0], source, tag)
		case 3:
			var m *Message
			if m, err = c.Mprobe(short, source, tag); err == nil {
				s, err = RecvMessage(ctx, m, buf)
			}
		case 4:
			if _, err = c.Probe(short, source, tag); err == nil {
				s, err = Recv(short, c, buf, source, tag) // its sender may withdraw what was found
			}
		case 1:
			r := Irecv(c, buf, source, tag)
			if s, err = r.Wait(short); err != nil && ctx.Err() == nil {
				s, err = r.Wait(ctx) // it goes on
			}
		default:
			r := Irecv(c, buf, source, tag)
			if s, err = r.Wait(short); err != nil && ctx.Err() == nil {
				r.Cancel()
				s, err = r.Wait(ctx)
			}
		}
		cancel()
		if err != nil {
			if !errors.Is(err, ErrCanceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) || ctx.Err() != nil {
				return fmt.Errorf("receive %d: %w", i, err)
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

// scribbled are buffers that are filled with something of their own after use, and
// looked at when their turn comes again.
type scribbled struct {
	bufs [4][]uint32
	uses uint32
}

func newScribbled(n int) *scribbled {
	s := &scribbled{}
	for i := range s.bufs {
		s.bufs[i] = make([]uint32, n)
	}
	return s
}

// next returns a buffer full of v. The one before it is full of its scribble from now on.
func (s *scribbled) next(v uint32) ([]uint32, error) {
	n := uint32(len(s.bufs))
	if s.uses > 0 {
		fill(s.bufs[(s.uses-1)%n], 1<<29+s.uses)
	}
	s.uses++
	b := s.bufs[(s.uses-1)%n]
	if s.uses > n {
		want := uint32(1<<29) + s.uses - n
		for k, got := range b {
			if got != want {
				return nil, fmt.Errorf("element %d of a buffer whose receive was over is %d, want %d", k, got, want)
			}
		}
	}
	fill(b, v)
	return b, nil
}

func fill(b []uint32, v uint32) {
	for k := range b {
		b[k] = v
	}
}

// Rule 12: a send to a rank that doesn't call in is given up at once, long or short; the next
// one is what the rank gets.
func TestSendGivenUp(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		for _, n := range []int{100_000, 1 << 20} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				given := make(chan struct{})
				run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
					buf := make([]byte, n)
					if c.Rank() == 1 {
						<-given
						for want := byte(2); want < 4; want++ {
							if s, err := Recv(ctx, c, buf, AnySource, AnyTag); err != nil || s.Bytes != int64(n) || buf[0] != want || buf[n-1] != want {
								return fmt.Errorf("%+v, %d and %d, %w", s, buf[0], buf[n-1], err)
							}
						}
						_, found, err := c.Iprobe(AnySource, AnyTag)
						if found {
							return errors.New("another message is there")
						}
						return errors.Join(err, c.Barrier(ctx))
					}
					send := func(v byte, f func() error) error {
						for i := range buf {
							buf[i] = v
						}
						return f()
					}
					short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
					defer cancel()
					err := send(1, func() error { return Send(short, c, buf, 1, 0) })
					if !errors.Is(err, context.DeadlineExceeded) {
						return fmt.Errorf("a send to a rank that doesn't call in: %w", err)
					}
					err = send(1, func() error {
						r := Isend(c, buf, 1, 0)
						r.Cancel()
						_, err := r.Wait(ctx)
						return err
					})
					if !errors.Is(err, ErrCanceled) {
						return fmt.Errorf("a request that was canceled: %w", err)
					}
					close(given)
					for v := byte(2); v < 4; v++ {
						if err := send(v, func() error { return Send(ctx, c, buf, 1, 0) }); err != nil {
							return err
						}
					}
					return c.Barrier(ctx) // the other one still probes
				})
			})
		}
	})
}

// Rule 12: a receive that is canceled leaves its message to the next one; one that has its
// message completes.
func TestCancelReceive(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			buf := make([]int32, 50_000)
			for round := range int32(20) {
				n := []int{1, 1000, 50_000}[round%3]
				if c.Rank() == 0 {
					if _, err := Recv(ctx, c, buf[:1], 1, 1); err != nil {
						return err
					}
					fill32(buf, round)
					if err := Send(ctx, c, buf[:n], 1, 0); err != nil {
						return err
					}
					continue
				}
				first := Irecv(c, buf, 0, 0)
				first.Cancel()
				second := Irecv(c, buf, 0, 0)
				if err := Send(ctx, c, buf[:1], 0, 1); err != nil {
					return err
				}
				if s, err := second.Wait(ctx); err != nil || s.Bytes != int64(4*n) || buf[n-1] != round {
					return fmt.Errorf("round %d: %+v, %d, %w", round, s, buf[n-1], err)
				}
				if _, err := first.Wait(ctx); !errors.Is(err, ErrCanceled) {
					return fmt.Errorf("round %d: the canceled receive: %w", round, err)
				}
				second.Cancel() // over: left alone
				if _, err := second.Wait(ctx); !errors.Is(err, ErrDone) {
					return fmt.Errorf("round %d: a second Wait: %w", round, err)
				}
			}
			return nil
		})
	})
}

func fill32(b []int32, v int32) {
	for k := range b {
		b[k] = v
	}
}
