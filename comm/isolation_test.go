package comm

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// A random program makes communicators of communicators and frees them, on all of them
// at once, each in a goroutine of its own, and passes messages on all of them.

// commPlan is a communicator of the program.
type commPlan struct {
	ID      int
	Members []int // ranks of the world, in order
}

// commStep is what is done on one communicator in a round, after its messages.
type commStep struct {
	Comm     commPlan
	Sizes    []int // of the messages from each rank to each
	Wildcard bool  // they are received from any source
	Op       string
	Colors   []int // by rank
	Keys     []int
	Made     []commPlan
}

// drawProgram draws rounds of steps.
func drawProgram(rt *rapid.T, n int) [][]commStep {
	world := commPlan{0, make([]int, n)}
	for r := range n {
		world.Members[r] = r
	}
	live, ids := []commPlan{world}, 0
	var rounds [][]commStep
	for range rapid.IntRange(1, 5).Draw(rt, "rounds") {
		var round []commStep
		var next []commPlan
		for _, c := range live {
			s := commStep{Comm: c, Wildcard: rapid.Bool().Draw(rt, "wildcard")}
			s.Sizes = rapid.SliceOfN(rapid.SampledFrom([]int{16, 100, 300, 5000, 20_000}), 0, 3).Draw(rt, "sizes")
			ops := []string{"", "dup", "split", "create", "free"}
			if len(live) > 6 || c.ID == 0 {
				ops = slices.DeleteFunc(ops, func(op string) bool { return c.ID == 0 && op == "free" || len(live) > 6 && op != "free" && op != "" })
			}
			s.Op = rapid.SampledFrom(ops).Draw(rt, "op")
			size := len(c.Members)
			s.Colors = rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, Undefined}), size, size).Draw(rt, "colors")
			s.Keys = rapid.SliceOfN(rapid.IntRange(0, 2), size, size).Draw(rt, "keys")
			for _, color := range []int{0, 1} {
				var members []int
				for r := range size {
					if s.Colors[r] == color {
						members = append(members, r)
					}
				}
				slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(s.Keys[a], s.Keys[b]) })
				for i, r := range members {
					members[i] = c.Members[r]
				}
				if s.Op == "dup" && color == 0 {
					members = c.Members
				}
				if s.Op == "split" || color == 0 && (s.Op == "dup" || s.Op == "create") {
					ids++
					s.Made = append(s.Made, commPlan{ids, members})
				}
			}
			if s.Op != "free" {
				next = append(next, c)
			}
			for _, m := range s.Made {
				if len(m.Members) > 0 {
					next = append(next, m)
				}
			}
			round = append(round, s)
		}
		rounds = append(rounds, round)
		live = next
	}
	return rounds
}

// perform does a step on this rank, and returns what it makes.
func (s commStep) perform(ctx context.Context, c *Comm) (map[int]*Comm, error) {
	if got := worldRanks(c); !slices.Equal(got, s.Comm.Members) {
		return nil, fmt.Errorf("it has the ranks %v", got)
	}
	if err := s.exchange(ctx, c); err != nil {
		return nil, err
	}
	switch s.Op {
	case "dup":
		d, err := c.Dup(ctx)
		return map[int]*Comm{s.Made[0].ID: d}, err
	case "split":
		d, err := c.Split(ctx, s.Colors[c.Rank()], s.Keys[c.Rank()])
		if d == nil || err != nil {
			return nil, err
		}
		return map[int]*Comm{s.Made[s.Colors[c.Rank()]].ID: d}, nil
	case "create":
		world, err := c.Group().Translate(allRanks(c.Size()), c.World().Comm().Group())
		if err != nil {
			return nil, err
		}
		var ranks []int
		for _, r := range s.Made[0].Members {
			ranks = append(ranks, slices.Index(world, r))
		}
		g, err := c.Group().Incl(ranks...)
		if err != nil {
			return nil, err
		}
		d, err := c.Create(ctx, g, 5)
		if d == nil || err != nil {
			return nil, err
		}
		return map[int]*Comm{s.Made[0].ID: d}, nil
	case "free":
		// With messages that nobody receives.
		var strays []Request
		for _, to := range []int{c.Rank(), (c.Rank() + 1) % c.Size()} {
			for _, d := range []*Comm{c, c.Hidden()} {
				strays = append(strays, Isend(d, s.message(c, to, 999, 16), to, 0))
			}
		}
		if err := c.Free(); err != nil {
			return nil, err
		}
		for _, q := range strays {
			if _, err := q.Wait(ctx); err != nil && !errors.Is(err, ErrFinished) && !errors.Is(err, ErrFreed) {
				return nil, err
			}
		}
		return nil, nil
	}
	return nil, nil
}

func allRanks(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// message says which communicator it is for, from whom, to whom, and which it is.
func (s commStep) message(c *Comm, to, number, size int) []byte {
	b := make([]byte, size)
	for i, v := range []int{s.Comm.ID, c.Rank(), to, number} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	}
	return b
}

// exchange sends the messages and receives them: each must be of this communicator,
// and those of one sender in their order.
func (s commStep) exchange(ctx context.Context, c *Comm) error {
	var sends []Request
	for i, size := range s.Sizes {
		for to := range c.Size() {
			sends = append(sends, Isend(c, s.message(c, to, i, size), to, i))
		}
	}
	next := make([]int, c.Size())
	buf := make([]byte, 20_000)
	for i := range len(s.Sizes) * c.Size() {
		source := i % c.Size()
		if s.Wildcard {
			source = AnySource
		}
		st, err := Recv(ctx, c, buf, source, AnyTag)
		if err != nil {
			return err
		}
		var got [4]int
		for k := range got {
			got[k] = int(binary.LittleEndian.Uint32(buf[4*k:]))
		}
		want := [4]int{s.Comm.ID, st.Source, c.Rank(), next[st.Source]}
		if got != want || st.Tag != want[3] || int(st.Bytes) != s.Sizes[want[3]] {
			return fmt.Errorf("got %v with %+v, want %v", got, st, want)
		}
		next[st.Source]++
	}
	// What the next round sends must not meet this one's wildcards.
	return errors.Join(WaitAll(ctx, sends...), c.Barrier(ctx))
}

// Rule 7: communicators isolate traffic, whatever made them and whatever was freed
// before.
func TestIsolation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		rounds := drawProgram(rt, n)
		cfg := configs[rapid.IntRange(0, len(configs)-1).Draw(rt, "config")]
		for r, err := range runErrors(t, n, cfg.Config, func(ctx context.Context, c *Comm) error {
			comms := map[int]*Comm{0: c}
			for i, round := range rounds {
				var mu sync.Mutex
				var all error
				var wg sync.WaitGroup
				made := map[int]*Comm{}
				for _, s := range round {
					mine := comms[s.Comm.ID]
					if mine == nil {
						continue
					}
					wg.Go(func() {
						got, err := s.perform(ctx, mine)
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							all = errors.Join(all, fmt.Errorf("round %d, communicator %d, %q: %w", i, s.Comm.ID, s.Op, err))
							return
						}
						for id, d := range got {
							made[id] = d
						}
						if s.Op != "free" {
							made[s.Comm.ID] = mine
						}
					})
				}
				wg.Wait()
				if all != nil {
					return all
				}
				comms = made
			}
			return nil
		}) {
			if err != nil {
				rt.Errorf("rank %d: %v", r, err)
			}
		}
	})
}
