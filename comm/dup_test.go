package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// What is sent on one communicator is not seen on another, wildcards and barriers
// included.
func TestDupIsolates(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 3, cfg, func(ctx context.Context, c *Comm) error {
			d, err := c.Dup(ctx)
			if err != nil {
				return err
			}
			e, err := d.Dup(ctx)
			if err != nil {
				return err
			}
			comms := []*Comm{c, d, e, c.Hidden()}
			last := len(comms) - 1
			for _, n := range []int{1, 1000, 100_000} {
				if c.Rank() != 0 {
					var reqs []Request
					for i := range comms { // sent on the last one first
						buf := make([]byte, n)
						buf[0] = byte(last - i)
						reqs = append(reqs, Isend(comms[last-i], buf, 0, 7))
					}
					if err := WaitAll(ctx, reqs...); err != nil {
						return err
					}
				} else if err := receiveApart(ctx, comms, n); err != nil {
					return err
				}
				for _, x := range comms {
					if err := x.Barrier(ctx); err != nil {
						return err
					}
				}
			}
			return errors.Join(d.Free(), e.Free())
		})
	})
}

func receiveApart(ctx context.Context, comms []*Comm, n int) error {
	for i, x := range comms {
		for range 2 {
			buf := make([]byte, n)
			s, err := Recv(ctx, x, buf, AnySource, AnyTag)
			if err != nil || buf[0] != byte(i) {
				return fmt.Errorf("communicator %d got a message of communicator %d: %+v, %w", i, buf[0], s, err)
			}
		}
		// The others may have finished by then.
		if s, found, err := x.Iprobe(AnySource, AnyTag); found || err != nil && !errors.Is(err, errAllFinished) {
			return fmt.Errorf("communicator %d has %+v besides, %w", i, s, err)
		}
	}
	return nil
}

// Communicators that are made at the same time, in different orders on different
// ranks, are the same on all of them.
func TestDupAtOnce(t *testing.T) {
	const parents = 4
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		var from, made [parents]*Comm
		for i := range from {
			var err error
			if from[i], err = c.Dup(ctx); err != nil {
				return err
			}
		}
		errs := make(chan error, parents)
		for k := range parents {
			i := (k + c.Rank()) % parents
			go func() {
				var err error
				made[i], err = from[i].Dup(ctx)
				errs <- err
			}()
		}
		for range parents {
			if err := <-errs; err != nil {
				return err
			}
		}
		for i, d := range made {
			right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
			if err := SendOne(ctx, d, i, right, 0); err != nil {
				return err
			}
			if got, _, err := RecvOne[int](ctx, d, left, 0); err != nil || got != i {
				return fmt.Errorf("on communicator %d: %d, %w", i, got, err)
			}
		}
		return nil
	})
}

// Many communicators are made and freed: no two have one context, and memory stays
// level.
func TestDupMany(t *testing.T) {
	count := 20_000
	if testing.Short() || raceEnabled {
		count /= 10
	}
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		seen := make(map[uint32]bool, count)
		var before, after runtime.MemStats
		for i := range count {
			d, err := c.Dup(ctx)
			if err != nil {
				return err
			}
			if seen[d.context] || d.context == c.context || d.context >= hidden {
				return fmt.Errorf("context %d once more", d.context)
			}
			seen[d.context] = true
			if err := d.Free(); err != nil {
				return err
			}
			if i == count/10 {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 1<<20 {
			t.Errorf("%d more bytes after %d communicators", more, count)
		}
		runtime.KeepAlive(seen)
		return nil
	})
}

// Whoever is rank 0 of a communicator can choose: no two ranks of the world give
// out one number.
func TestContexts(t *testing.T) {
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		const each = 100
		w := c.world
		mine := make([]uint32, each)
		for i := range mine {
			mine[i] = w.newContext()
		}
		if c.Rank() != 0 {
			return Send(ctx, c, mine, 0, 0)
		}
		for range c.Size() - 1 {
			var err error
			if mine, _, err = RecvAppend(ctx, c, mine, AnySource, 0); err != nil {
				return err
			}
		}
		slices.Sort(mine)
		if n := len(slices.Compact(mine)); n != 3*each || mine[0] <= c.context {
			return fmt.Errorf("%d numbers, want %d, from %d on", n, 3*each, mine[0])
		}
		return nil
	})
}
