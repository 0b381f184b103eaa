package comm

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// long says whether the tests shall take their full length.
func long() bool { return os.Getenv("VERBENA_LONG") != "" }

// often is how many times a test does something small: the full number with
// VERBENA_LONG=1, else a part of it.
func often(full, part int) int {
	switch {
	case long():
		return full
	case testing.Short() || raceEnabled:
		return part / 5
	}
	return part
}

// heap is how many bytes of memory are in use, without garbage.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what sync.Pools and finalizers had
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// level checks that the memory in use doesn't grow with the number of turns: what n of
// them add is at most so many bytes, after some that make what is made once.
func level(n int, most int64, turns func(n int) error) error {
	if err := turns(min(n/2, 1000)); err != nil {
		return err
	}
	before := heap()
	if err := turns(n); err != nil {
		return err
	}
	if grown := heap() - before; grown > most {
		return fmt.Errorf("%d turns: %d bytes more are in use, %.1f a turn", n, grown, float64(grown)/float64(n))
	}
	return nil
}

// levelMost is what the heap of a test may grow by, for reasons of its own.
const levelMost = 256 << 10

// A million requests made and freed keep memory level (rule 20): those that are over
// at once, those that wait for each other, and those that are given up.
func TestRequestsLevel(t *testing.T) {
	n := often(1_000_000, 100_000)
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		buf, in := make([]byte, 100), make([]byte, 100)
		big, bigIn := make([]byte, 20_000), make([]byte, 20_000)
		return level(n, levelMost, func(n int) error {
			for i := range n {
				var err error
				switch i % 4 {
				case 0:
					r := Irecv(c, in, 0, 1)
					if err = Send(ctx, c, buf, 0, 1); err == nil {
						_, err = r.Wait(ctx)
					}
				case 1:
					err = WaitAll(ctx, Isend(c, buf, 0, 2), Irecv(c, in, AnySource, 2))
				case 2:
					r := Irecv(c, in, 0, i)
					if r.Cancel(); i%8 == 2 {
						r.Test()
					} else {
						r.Wait(ctx)
					}
				case 3:
					err = WaitAll(ctx, Isend(c, big, 0, 3), Irecv(c, bigIn, 0, AnyTag))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// The same between two ranks, of which either may be ahead.
func TestRequestsLevelPair(t *testing.T) {
	n := often(1_000_000, 50_000)
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		const window = 32
		other := 1 - c.Rank()
		buf, in := make([]byte, 64), make([][]byte, window)
		for i := range in {
			in[i] = make([]byte, 64)
		}
		var requests [2 * window]Request
		turns := func(n int) error {
			for range n / len(requests) {
				for i := range window {
					requests[2*i] = Irecv(c, in[i], other, i)
					requests[2*i+1] = Isend(c, buf, other, i)
				}
				if err := WaitAll(ctx, requests[:]...); err != nil {
					return err
				}
			}
			return c.Barrier(ctx)
		}
		if c.Rank() == 0 {
			return level(n, levelMost, turns)
		}
		if err := turns(min(n/2, 1000)); err != nil {
			return err
		}
		return turns(n)
	})
}

// 100,000 communicators made, used and freed keep memory level (rule 20).
func TestCommsLevel(t *testing.T) {
	n := often(100_000, 5000)
	for _, ranks := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			run(t, ranks, Config{}, func(ctx context.Context, c *Comm) error {
				turns := func(n int) error {
					for i := range n {
						d, err := c.Dup(ctx)
						if err != nil {
							return err
						}
						if i%16 == 0 {
							if err := d.Barrier(ctx); err != nil {
								return err
							}
						}
						if err := d.Free(); err != nil {
							return err
						}
					}
					return c.Barrier(ctx)
				}
				if c.Rank() == 0 {
					return level(n, levelMost, turns)
				}
				if err := turns(min(n/2, 1000)); err != nil {
					return err
				}
				return turns(n)
			})
		})
	}
}

// Twenty floods of messages that nobody has asked for, of all sizes, some of which are
// long: the memory that the first ones took is all that the others take (rule 18).
func TestFloodsLevel(t *testing.T) {
	const floods = 20
	count := often(50_000, 5000)
	sizes := []int{0, 8, 64, 64, 64, 200, 1000, 64, 64, 3000, 64, 32, 64, 100, 64, 20_000}
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		sum := 0
		for i := range count {
			sum += sizes[i%len(sizes)]
		}
		turn := func(flood int) error {
			buf := make([]byte, sizes[len(sizes)-1])
			if c.Rank() == 0 {
				requests := make([]Request, 0, count)
				for i := range count {
					requests = append(requests, Isend(c, buf[:sizes[i%len(sizes)]], 1, 1))
				}
				return WaitAll(ctx, requests...)
			}
			w := c.World()
			waiting := func() int { w.eng.Lock(); defer w.eng.Unlock(); return w.table.NumUnexpected() }
			for waiting() < count/4 && ctx.Err() == nil {
				if _, _, err := c.Iprobe(0, 2); err != nil {
					return err
				}
			}
			for i := range count {
				s, err := Recv(ctx, c, buf, 0, 1)
				if err != nil {
					return err
				}
				if want := int64(sizes[i%len(sizes)]); s.Bytes != want {
					return fmt.Errorf("flood %d, message %d: %d bytes, want %d", flood, i, s.Bytes, want)
				}
			}
			w.eng.Lock()
			defer w.eng.Unlock()
			// The sender may be in the barrier already.
			if p := w.peers[0]; p.account.messages > 1 || w.unexpectedBytes != 0 || w.table.NumUnexpected() > 1 {
				return fmt.Errorf("flood %d: after it %+v are on its sender's account, %d bytes and %d messages are held",
					flood, p.account, w.unexpectedBytes, w.table.NumUnexpected())
			}
			return nil
		}
		var first, last int64
		for flood := range floods {
			if err := turn(flood); err != nil {
				return err
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			if c.Rank() == 1 {
				switch flood {
				case floods / 4:
					first = heap()
				case floods - 1:
					last = heap()
				}
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		if most := int64(2 << 20); last-first > most {
			return fmt.Errorf("%d bytes after flood %d, %d after flood %d", first, floods/4, last, floods)
		}
		return nil
	})
}
