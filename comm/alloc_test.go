package comm

import (
	"context"
	"fmt"
	"runtime"
	"testing"
)

// turns is how many messages one measured run has: AllocsPerRun rounds down, so a
// run must be long enough that one allocation in a thousand messages shows.
const turns = 1000

// The fast paths allocate nothing: blocking and nonblocking, waited for one by
// one and together, in a cell and in a slot.
func TestNoAllocations(t *testing.T) {
	for _, n := range []int{0, 8, 64, 1000, 16384} {
		t.Run(fmt.Sprintf("%dB", n), func(t *testing.T) {
			run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
				// A wait that becomes a sleep watches a context that can end,
				// which allocates; on a busy machine some do.
				ctx = context.WithoutCancel(ctx)
				const window = 16
				peer := 1 - c.Rank()
				out, in := make([]byte, n), make([]byte, n)
				reqs, results := make([]Request, 2*window), make([]Result, 2*window)
				exchanges := []struct {
					name string
					once func() error
				}{
					{"Send, Recv", func() error {
						if c.Rank() == 0 {
							if err := Send(ctx, c, out, peer, 1); err != nil {
								return err
							}
						}
						if _, err := Recv(ctx, c, in, peer, 1); err != nil {
							return err
						}
						if c.Rank() == 1 {
							return Send(ctx, c, out, peer, 1)
						}
						return nil
					}},
					{"SendOne, RecvOne", func() error {
						if c.Rank() == 0 {
							if err := SendOne(ctx, c, [3]float64{1, 2, 3}, peer, 1); err != nil {
								return err
							}
						}
						v, _, err := RecvOne[[3]float64](ctx, c, peer, 1)
						if err != nil || c.Rank() == 0 {
							return err
						}
						return SendOne(ctx, c, v, peer, 1)
					}},
					{"Isend, Irecv, Wait", func() error {
						r := Irecv(c, in, peer, 2)
						s := Isend(c, out, peer, 2)
						if _, err := s.Wait(ctx); err != nil {
							return err
						}
						_, err := r.Wait(ctx)
						return err
					}},
					{"Isend, Irecv, Test", func() error {
						r := Irecv(c, in, peer, 3)
						if _, err := Isend(c, out, peer, 3).Wait(ctx); err != nil {
							return err
						}
						for {
							if _, done, err := r.Test(); done || err != nil {
								return err
							}
							runtime.Gosched() // AllocsPerRun leaves one processor
						}
					}},
					{"WaitAllInto", func() error {
						for i := range window {
							reqs[2*i], reqs[2*i+1] = Irecv(c, in, peer, 4), Isend(c, out, peer, 4)
						}
						return WaitAllInto(ctx, reqs, results)
					}},
					{"Sendrecv, Probe, RecvAppend", func() error {
						if _, err := Sendrecv(ctx, c, out, peer, 6, in, peer, 6); err != nil {
							return err
						}
						if err := Send(ctx, c, out, peer, 7); err != nil {
							return err
						}
						if _, err := c.Probe(ctx, peer, 7); err != nil {
							return err
						}
						_, _, err := RecvAppend(ctx, c, in[:0], peer, 7)
						return err
					}},
					{"WaitAny", func() error {
						list := reqs[:2]
						list[0], list[1] = Irecv(c, in, peer, 5), Isend(c, out, peer, 5)
						for {
							if i, _, err := WaitAny(ctx, list); i < 0 || err != nil {
								return err
							}
						}
					}},
					{"Barrier", func() error { return c.Barrier(ctx) }},
				}
				for _, x := range exchanges {
					if raceEnabled && x.name == "SendOne, RecvOne" {
						continue // a sync.Pool forgets on purpose then
					}
					var failed error
					many := func() {
						for range turns {
							if err := x.once(); err != nil && failed == nil {
								failed = err
							}
						}
					}
					for range 3 { // pools and lists reach their size
						many()
					}
					if err := c.Barrier(ctx); err != nil {
						return err
					}
					if c.Rank() == 0 {
						// The other rank allocates on the same heap: it is measured too.
						// A rank that runs ahead makes a pool grow now and then.
						if got := testing.AllocsPerRun(2, many); got > turns/20 {
							t.Errorf("%s: %v allocations in %d turns", x.name, got, turns)
						}
					} else {
						for range 3 { // AllocsPerRun runs once more, first
							many()
						}
					}
					if failed != nil {
						return fmt.Errorf("%s: %w", x.name, failed)
					}
				}
				return nil
			})
		})
	}
}

// A million inline ping-pongs poll send queues fewer than a million/32 times.
func TestLazySends(t *testing.T) {
	rounds := 1_000_000
	if testing.Short() || raceEnabled {
		rounds /= 50
	}
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		peer, buf := 1-c.Rank(), make([]byte, 8)
		before := c.World().Info().Counters
		for range rounds {
			if c.Rank() == 0 {
				if err := Send(ctx, c, buf, peer, 0); err != nil {
					return err
				}
			}
			if _, err := Recv(ctx, c, buf, peer, 0); err != nil {
				return err
			}
			if c.Rank() == 1 {
				if err := Send(ctx, c, buf, peer, 0); err != nil {
					return err
				}
			}
		}
		after := c.World().Info().Counters
		polls, inline := after["poll.send"]-before["poll.send"], after["eager.inline"]-before["eager.inline"]
		if polls >= uint64(rounds)/32 || inline < uint64(rounds) {
			return fmt.Errorf("%d polls of send queues, %d inline sends, in %d rounds", polls, inline, rounds)
		}
		t.Logf("rank %d: %d polls of send queues in %d rounds", c.Rank(), polls, rounds)
		return nil
	})
}
