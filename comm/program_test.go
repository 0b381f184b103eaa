package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Random programs: 2 to 4 ranks send each other messages of random sizes and
// tags and receive them with and without wildcards, blocking, nonblocking and
// testing, in random order and into buffers of random room. An oracle says what
// each receive must get.
func TestPrograms(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() || raceEnabled {
		seeds = 3
	}
	eachConfig(t, func(t *testing.T, cfg Config) {
		for seed := range seeds {
			p := newProgram(seed)
			t.Run(fmt.Sprintf("seed %d, %d ranks", seed, p.ranks), func(t *testing.T) {
				run(t, p.ranks, cfg, func(ctx context.Context, c *Comm) error {
					for i, e := range p.epochs {
						rng := rand.New(rand.NewPCG(seed, uint64(i*10+c.Rank())))
						if err := e.run(ctx, c, rng); err != nil {
							return fmt.Errorf("epoch %d (%v, %v): %w", i, e.naming, e.order, err)
						}
						if err := c.Barrier(ctx); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	})
}

// program is what all ranks know: which messages there are.
type program struct {
	ranks  int
	epochs []*epoch
}

// epoch is a part between two barriers: its messages, by receiver, and how they
// are received.
type epoch struct {
	naming naming
	order  order
	to     [][]mail // by receiver, those of one sender in the order they are sent
}

type mail struct {
	from, to, tag int
	number        int // among those of this pair
	size          int
}

// naming is what the receives name.
type naming int

const (
	nameTags naming = iota // a tag; some name the source too, by tag
	nameSources
	nameAll
)

func (n naming) String() string { return [...]string{"tags", "sources", "all"}[n] }

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

func newProgram(seed uint64) *program {
	rng := rand.New(rand.NewPCG(seed, 99))
	p := &program{ranks: 2 + rng.IntN(3)}
	for range 4 {
		e := &epoch{naming: naming(rng.IntN(3)), order: order(rng.IntN(3)), to: make([][]mail, p.ranks)}
		for from := range p.ranks {
			for to := range p.ranks {
				if from == to && rng.IntN(2) == 0 {
					continue
				}
				for i := range rng.IntN(20) {
					m := mail{from: from, to: to, number: i, tag: rng.IntN(3), size: sizes[rng.IntN(len(sizes)-1)]}
					if rng.IntN(3) == 0 {
						m.tag += anyTagged
					}
					if m.size > 300_000 && rng.IntN(8) != 0 {
						m.size = rng.IntN(500)
					}
					e.to[to] = append(e.to[to], m)
				}
			}
		}
		p.epochs = append(p.epochs, e)
	}
	return p
}

func (m mail) content() []byte {
	b := make([]byte, m.size)
	pattern(b, m.from*1_000_000+m.to*10_000+m.number)
	return b
}

// expected is a receive.
type expected struct {
	source, tag int
	buf         []byte
	all         []byte // with what lies around it
	posted      int    // when, among those of its epoch
	request     Request
	status      Status
	err         error
}

// receives makes the receives of a rank: as many as there are messages for it,
// named as the epoch says, in random order.
func (e *epoch) receives(rank int, rng *rand.Rand) (list []*expected) {
	for _, m := range e.to[rank] {
		x := &expected{source: m.from, tag: m.tag}
		switch {
		case e.naming == nameAll:
			x.source, x.tag = AnySource, AnyTag
		case e.naming == nameSources:
			x.tag = AnyTag
		case m.tag >= anyTagged:
			x.source = AnySource
		}
		room := m.size
		if rng.IntN(4) == 0 {
			room = rng.IntN(2*m.size + 2)
		}
		x.all = bytes.Repeat([]byte{0xee}, 16+room+16)
		x.buf = x.all[16 : 16+room]
		list = append(list, x)
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for i, x := range list {
		x.posted = i
	}
	return list
}

// sends are a rank's messages: those to one receiver in order, mixed at random.
func (e *epoch) sends(rank int, rng *rand.Rand) (list []mail) {
	var queues [][]mail
	for _, to := range e.to {
		var q []mail
		for _, m := range to {
			if m.from == rank {
				q = append(q, m)
			}
		}
		queues = append(queues, q)
	}
	for {
		var full []int
		for i, q := range queues {
			if len(q) > 0 {
				full = append(full, i)
			}
		}
		if len(full) == 0 {
			return list
		}
		i := full[rng.IntN(len(full))]
		list = append(list, queues[i][0])
		queues[i] = queues[i][1:]
	}
}

func (e *epoch) run(ctx context.Context, c *Comm, rng *rand.Rand) error {
	recvs, sends := e.receives(c.Rank(), rng), e.sends(c.Rank(), rng)
	var out []Request
	post := func() { // the next receive
		x := recvs[0]
		recvs = recvs[1:]
		x.request = Irecv(c, x.buf, x.source, x.tag)
	}
	send := func() error {
		m := sends[0]
		sends = sends[1:]
		if e.order == receivesFirst && m.to != m.from && rng.IntN(2) == 0 {
			return Send(ctx, c, m.content(), m.to, m.tag) // whoever receives has posted, or will
		}
		out = append(out, Isend(c, m.content(), m.to, m.tag))
		return nil
	}
	all := recvs
	for e.order == receivesFirst && len(recvs) > 0 {
		post()
	}
	for len(sends) > 0 {
		if e.order == anyOrder && len(recvs) > 0 && rng.IntN(2) == 0 {
			post()
			continue
		}
		if err := send(); err != nil {
			return err
		}
		if len(out) > 0 && rng.IntN(3) == 0 {
			i := rng.IntN(len(out))
			if _, done, err := out[i].Test(); err != nil {
				return err
			} else if done {
				out = append(out[:i], out[i+1:]...)
			}
		}
	}
	for len(recvs) > 0 {
		if x := recvs[0]; e.order == sendsFirst && rng.IntN(2) == 0 {
			recvs = recvs[1:]
			x.request = Request{}
			if rng.IntN(2) == 0 {
				x.status, x.err = Recv(ctx, c, x.buf, x.source, x.tag)
				continue
			}
			m, err := c.Mprobe(ctx, x.source, x.tag)
			if err != nil {
				return err
			}
			x.status, x.err = RecvMessage(ctx, m, x.buf)
			if m.Status() != x.status {
				return fmt.Errorf("probed %+v, received %+v", m.Status(), x.status)
			}
			continue
		}
		post()
	}
	if err := finish(ctx, all, rng); err != nil {
		return err
	}
	if err := WaitAll(ctx, out...); err != nil {
		return err
	}
	return e.check(c.Rank(), all)
}

// finish waits for the receives that are still open, in one of several ways.
func finish(ctx context.Context, all []*expected, rng *rand.Rand) error {
	var open []*expected
	for _, x := range all {
		if x.request != (Request{}) {
			open = append(open, x)
		}
	}
	rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	requests := make([]Request, len(open))
	for i, x := range open {
		requests[i] = x.request
	}
	switch rng.IntN(4) {
	case 0:
		for _, x := range open {
			x.status, x.err = x.request.Wait(ctx)
		}
	case 1:
		results := make([]Result, len(open))
		err := WaitAllInto(ctx, requests, results)
		if err != nil && !errors.Is(err, ErrTruncated) {
			return err
		}
		for i, x := range open {
			x.status, x.err = results[i].Status, results[i].Err
		}
	case 2:
		for len(open) > 0 {
			i := rng.IntN(len(open))
			x := open[i]
			var done bool
			if x.status, done, x.err = x.request.Test(); done {
				open = append(open[:i], open[i+1:]...)
			} else if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	case 3:
		left := len(open)
		for i, r := range Completed(ctx, requests) {
			if i < 0 {
				return r.Err
			}
			open[i].status, open[i].err = r.Status, r.Err
			left--
		}
		if left != 0 {
			return fmt.Errorf("%d of %d receives were not ended once", left, len(open))
		}
	}
	return nil
}

// check is the oracle. A message is known by its source, and by its place among
// those of its source and, where the receives name tags, of its tag.
func (e *epoch) check(rank int, all []*expected) error {
	type stream struct{ source, tag int }
	left := map[stream][]mail{}
	key := func(source, tag int) stream {
		if e.naming == nameTags {
			return stream{source, tag}
		}
		return stream{source: source}
	}
	for _, m := range e.to[rank] {
		k := key(m.from, m.tag)
		left[k] = append(left[k], m)
	}
	// In the order in which they were posted: of receives that name the same, the
	// earlier gets the earlier message of each source.
	for _, x := range all {
		if x.err != nil && !errors.Is(x.err, ErrTruncated) {
			return x.err
		}
		k := key(x.status.Source, x.status.Tag)
		if len(left[k]) == 0 {
			return fmt.Errorf("receive %d (source %d, tag %d) got %+v: there is no such message left", x.posted, x.source, x.tag, x.status)
		}
		m := left[k][0]
		left[k] = left[k][1:]
		if x.source != AnySource && x.source != m.from || x.tag != AnyTag && x.tag != m.tag {
			return fmt.Errorf("receive %d (source %d, tag %d) got %+v", x.posted, x.source, x.tag, m)
		}
		if want := (Status{Source: m.from, Tag: m.tag, Bytes: int64(m.size)}); x.status != want {
			return fmt.Errorf("receive %d: status %+v, want %+v", x.posted, x.status, want)
		}
		if truncated := len(x.buf) < m.size; truncated != (x.err != nil) {
			return fmt.Errorf("receive %d: %d bytes into %d: error %w", x.posted, m.size, len(x.buf), x.err)
		}
		want := bytes.Repeat([]byte{0xee}, len(x.all))
		copy(want[16:16+len(x.buf)], m.content())
		if !bytes.Equal(x.all, want) {
			return fmt.Errorf("receive %d: %d bytes of %d into %d: wrong content, or written outside", x.posted, m.size, m.from, len(x.buf))
		}
	}
	for k, l := range left {
		if len(l) > 0 {
			return fmt.Errorf("%d messages of %+v were not received", len(l), k)
		}
	}
	return nil
}
