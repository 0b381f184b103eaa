package comm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Random programs: 2 to 5 ranks send each other, and themselves, messages of random
// sizes and tags on several communicators, and receive them with and without
// wildcards, by every call that there is (see sendCalls, recvCalls and waitCalls), in
// random order and into buffers of random room. An oracle says what each receive must
// get (rules 1, 2, 3, 13, 18).
//
// VERBENA_PROGRAMS=1h goes on for an hour, with seeds of the clock's; each failure
// tells its seed, and VERBENA_PROGRAMS=seed:17 runs that one alone.
func TestPrograms(t *testing.T) {
	what := os.Getenv("VERBENA_PROGRAMS")
	if s, one := strings.CutPrefix(what, "seed:"); one {
		seed, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		newProgram(seed).run(t, configs[seed%uint64(len(configs))].Config)
		return
	}
	if what != "" {
		d, err := time.ParseDuration(what)
		if err != nil {
			t.Fatalf("VERBENA_PROGRAMS: %v", err)
		}
		programsFor(t, d)
		return
	}
	seeds := 8
	if testing.Short() || raceEnabled {
		seeds = 3
	}
	eachConfig(t, func(t *testing.T, cfg Config) {
		for seed := range seeds {
			p := newProgram(uint64(seed))
			t.Run(fmt.Sprintf("seed %d, %d ranks", seed, p.ranks), func(t *testing.T) { p.run(t, cfg) })
		}
	})
}

// programsFor runs programs for some time, each under one of the settings.
func programsFor(t *testing.T, d time.Duration) {
	first := uint64(time.Now().UnixNano())
	start, said := time.Now(), time.Now()
	seed := first
	for ; time.Since(start) < d; seed++ {
		c := configs[seed%uint64(len(configs))]
		p := newProgram(seed)
		if !t.Run(fmt.Sprintf("VERBENA_PROGRAMS=seed:%d, %s, %d ranks", seed, c.name, p.ranks), func(t *testing.T) { p.run(t, c.Config) }) {
			return
		}
		if time.Since(said) > time.Minute {
			said = time.Now()
			fmt.Printf("%d programs in %v, from seed %d\n", seed-first+1, time.Since(start).Round(time.Second), first)
		}
	}
	t.Logf("%d programs, seeds %d to %d", seed-first, first, seed-1)
}

// program is what all ranks know: which messages there are.
type program struct {
	seed   uint64
	ranks  int
	epochs []*epoch
}

// epoch is a part between two barriers: its messages, by receiver, and how they
// are received.
type epoch struct {
	ranks  int
	naming naming
	order  order
	rounds int      // of exchanges with neighbours, before
	to     [][]mail // by receiver, those of one sender in the order they are sent
}

// mail is a message between ranks of the world, on one of the communicators.
type mail struct {
	from, to, on int
	tag          int
	number       int // among those of this pair
	size         int
}

// naming is what the receives name.
type naming int

const (
	nameTags naming = iota // a tag; some name the source too, by tag
	nameSources
	nameAll
	nameMixed // each what it likes: all messages of a communicator have one source and tag
	namings
)

func (n naming) String() string { return [...]string{"tags", "sources", "all", "mixed"}[n] }

// order is what comes first.
type order int

const (
	receivesFirst order = iota
	sendsFirst
	anyOrder
)

func (o order) String() string {
	return [...]string{"receives first", "sends first", "any order"}[o]
}

// Tags from anyTagged on are received from any source, the others from a named
// one; a receive never takes what another one of the epoch must have.
const anyTagged = 100

// tagUnused is never sent.
const tagUnused = 50

func newProgram(seed uint64) *program {
	rng := rand.New(rand.NewPCG(seed, 99))
	p := &program{seed: seed, ranks: 2 + rng.IntN(4)}
	for range 4 {
		e := &epoch{
			ranks: p.ranks, naming: naming(rng.IntN(int(namings))), order: order(rng.IntN(3)), rounds: rng.IntN(4),
			to: make([][]mail, p.ranks),
		}
		for from := range p.ranks {
			for to := range p.ranks {
				if from == to && rng.IntN(2) == 0 {
					continue
				}
				for i := range rng.IntN(24) {
					m := mail{from: from, to: to, on: rng.IntN(comms), number: i, tag: rng.IntN(3), size: randomSize(rng)}
					switch {
					case e.naming == nameMixed:
						if m.tag = 1; (to+m.on)%p.ranks != from {
							continue
						}
					case rng.IntN(3) == 0:
						m.tag += anyTagged
					}
					e.to[to] = append(e.to[to], m)
				}
			}
		}
		p.epochs = append(p.epochs, e)
	}
	return p
}

// randomSize is mostly one at an edge of some protocol; long ones are rare.
func randomSize(rng *rand.Rand) int {
	n := sizes[rng.IntN(len(sizes)-1)]
	switch {
	case rng.IntN(6) == 0:
		n = 8
	case n > 300_000 && rng.IntN(8) != 0:
		n = rng.IntN(500)
	}
	return n
}

func (p *program) run(t *testing.T, cfg Config) {
	run(t, p.ranks, cfg, func(ctx context.Context, c *Comm) error {
		all, free, err := communicators(ctx, c)
		if err != nil {
			return err
		}
		for i, e := range p.epochs {
			y := &party{epoch: e, comms: all, me: c.Rank(), rng: rand.New(rand.NewPCG(p.seed, uint64(i*10+c.Rank())))}
			if err := y.play(ctx, rand.New(rand.NewPCG(p.seed, uint64(i)))); err != nil {
				return fmt.Errorf("epoch %d (%v, %v): %w", i, e.naming, e.order, err)
			}
			if err := all[i%comms].Barrier(ctx); err != nil {
				return err
			}
		}
		return free()
	})
}

// comms is how many communicators a program has: the world's, a duplicate, and one
// with the ranks in reverse.
const (
	comms    = 3
	reversed = 2
)

func communicators(ctx context.Context, c *Comm) (all []*Comm, free func() error, err error) {
	dup, err := c.Dup(ctx)
	if err != nil {
		return nil, nil, err
	}
	back, err := dup.Split(ctx, 7, -c.Rank())
	if err != nil {
		return nil, nil, err
	}
	return []*Comm{c, dup, back}, func() error {
		if err := back.Free(); err != nil {
			return err
		}
		return dup.Free()
	}, nil
}

// rankOn is a rank of the world on a communicator, and the other way round.
func (e *epoch) rankOn(on, rank int) int {
	if on == reversed {
		return e.ranks - 1 - rank
	}
	return rank
}

func (m mail) content() []byte {
	b := make([]byte, m.size)
	pattern(b, m.from*1_000_000+m.to*10_000+m.number)
	return b
}
