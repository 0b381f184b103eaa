package comm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// worldRanks is the communicator's ranks, as numbers of the world.
func worldRanks(c *Comm) []int {
	var all []int
	for r := range c.Size() {
		all = append(all, c.worldRank(r))
	}
	return all
}

// Each rank gets the communicator of its color, in the order of keys, whatever colors
// and keys are.
func TestSplit(t *testing.T) {
	type choice struct{ Color, Key int }
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "ranks")
		number := rapid.OneOf(rapid.IntRange(-1, 2), rapid.SampledFrom([]int{1 << 62, -1 << 63, AnySource}))
		choices := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) choice {
			c := choice{number.Draw(rt, "color"), number.Draw(rt, "key")}
			if rapid.IntRange(0, 4).Draw(rt, "undefined") == 0 {
				c.Color = Undefined
			}
			return c
		}), n, n).Draw(rt, "choices")
		var want [6][]int // by rank
		for r, c := range choices {
			var members []int
			for q, d := range choices {
				if d.Color == c.Color && c.Color != Undefined {
					members = append(members, q)
				}
			}
			slices.SortFunc(members, func(a, b int) int {
				return cmp.Or(cmp.Compare(choices[a].Key, choices[b].Key), cmp.Compare(a, b))
			})
			want[r] = members
		}
		for r, err := range runErrors(t, n, Config{}, func(ctx context.Context, c *Comm) error {
			s, err := c.Split(ctx, choices[c.Rank()].Color, choices[c.Rank()].Key)
			if err != nil || s == nil {
				if err == nil && want[c.Rank()] != nil {
					err = errors.New("nil")
				}
				return err
			}
			if got := worldRanks(s); !slices.Equal(got, want[c.Rank()]) || got[s.Rank()] != c.Rank() {
				return fmt.Errorf("rank %d of %v, want %v", s.Rank(), got, want[c.Rank()])
			}
			return passRound(ctx, s)
		}) {
			if err != nil {
				rt.Errorf("rank %d: %v", r, err)
			}
		}
	})
}

// passRound sends a message round the communicator, from one rank to the next, and
// receives it from any source.
func passRound(ctx context.Context, c *Comm) error {
	next, from := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	r := Isend(c, []int{c.World().rank}, next, 3)
	got := []int{0}
	s, err := Recv(ctx, c, got, AnySource, AnyTag)
	if err != nil || s.Source != from || got[0] != c.worldRank(from) {
		return fmt.Errorf("%+v, %d: %w", s, got[0], err)
	}
	_, err = r.Wait(ctx)
	return errors.Join(err, c.Barrier(ctx))
}

// Ranks of one host are together, however their hosts are called.
func TestSplitShared(t *testing.T) {
	hosts := []string{"b", "a", "b", "c", "a"}
	run(t, len(hosts), Config{}, func(ctx context.Context, c *Comm) error {
		all, err := c.SplitShared(ctx, -c.Rank())
		if err != nil || all.Size() != len(hosts) || all.Rank() != len(hosts)-1-c.Rank() {
			return fmt.Errorf("on one host: %+v, %w", all, err)
		}
		for r, p := range c.World().peers {
			if !p.near {
				return fmt.Errorf("rank %d is on another host", r)
			}
			p.near, p.host = hosts[r] == hosts[c.Rank()], "same"
		}
		for _, d := range []*Comm{c, all} {
			s, err := d.SplitShared(ctx, c.Rank())
			if err != nil {
				return err
			}
			var want []int
			for r, h := range hosts {
				if h == hosts[c.Rank()] {
					want = append(want, r)
				}
			}
			if got := worldRanks(s); !slices.Equal(got, want) {
				return fmt.Errorf("%v, want %v", got, want)
			}
			if err := passRound(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// Splits of different communicators that are made at once, in different orders, and
// splits of what they give, don't mix.
func TestSplitAtOnce(t *testing.T) {
	const ranks, parents = 4, 4
	run(t, ranks, Config{}, func(ctx context.Context, c *Comm) error {
		var from [parents]*Comm
		for i := range from {
			var err error
			if from[i], err = c.Split(ctx, 0, -c.Rank()); err != nil {
				return err
			}
		}
		errs := make(chan error, parents)
		for k := range parents {
			i := (k + c.Rank()) % parents
			go func() {
				errs <- func() error {
					a, err := from[i].Split(ctx, c.Rank()%2, c.Rank())
					if err != nil {
						return err
					}
					b, err := a.Dup(ctx)
					if err != nil {
						return err
					}
					if got, want := worldRanks(b), []int{c.Rank() % 2, c.Rank()%2 + 2}; !slices.Equal(got, want) {
						return fmt.Errorf("%v, want %v", got, want)
					}
					for range 10 {
						if err := errors.Join(passRound(ctx, b), passRound(ctx, a)); err != nil {
							return err
						}
					}
					return nil
				}()
			}()
		}
		var all error
		for range parents {
			all = errors.Join(all, <-errs)
		}
		return all
	})
}

// A call that was given up on one rank leaves nothing behind that a later one takes
// for its own.
func TestSplitGivenUp(t *testing.T) {
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		for i := range 5 {
			if c.Rank() == 0 || i%2 == 0 {
				// The others may have sent theirs already, or not.
				_, err = d.Split(gone, 0, 0)
			} else {
				_, err = d.Dup(gone)
			}
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errDiffer) {
				return err
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		for i := range 3 {
			s, err := d.Split(ctx, 0, i*c.Rank())
			if err != nil {
				return err
			}
			if err := passRound(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// The same, where what was left behind is there for sure.
func TestDupGivenUp(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := d.Dup(gone); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%w", err)
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if c.Rank() == 0 {
			if _, err := d.Dup(ctx); err != nil {
				return err
			}
		}
		e, err := d.Dup(ctx)
		if err != nil {
			return err
		}
		return passRound(ctx, e)
	})
}
