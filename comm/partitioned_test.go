package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// partitionings are the numbers of partitions of a send and its receive, and the length
// of both: fewer, as many and more, that begin together and that don't, around the limits
// of the protocols, and empty ones.
var partitionings = []struct{ from, to, size int }{
	{1, 1, 0},
	{3, 2, 0},
	{1, 1, 1},
	{1, 7, 7},
	{7, 1, 7},
	{4, 4, 4 * 384},
	{6, 4, 12 * 100},
	{4, 6, 12 * 200},
	{3, 2, 6 * 16384},
	{2, 3, 6 * 16385},
	{5, 3, 15 * 20000},
	{64, 3, 64 * 3},
}

// Rule 10: partitioned sends and receives, with unequal partition counts, made ready in
// any order, started before the other side and after it; a second start resets the state.
func TestRule10Partitioned(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		rng := rand.New(rand.NewPCG(1, uint64(c.Rank())))
		for i, p := range partitionings {
			out, in := make([]byte, p.size), bytes.Repeat([]byte{0xee}, p.size+8)
			s, r := PsendInit(c, out, p.from, peer, i), PrecvInit(c, in[:p.size], p.to, peer, i)
			for round := range 4 {
				if err := partRound(ctx, c, rng, s, r, out, in, round); err != nil {
					return fmt.Errorf("%d in %d partitions to %d, round %d: %w", p.size, p.from, p.to, round, err)
				}
			}
		}
		return nil
	})
}

func partRound(ctx context.Context, c *Comm, rng *rand.Rand, s, r *Partitioned, out, in []byte, round int) error {
	pattern(out, round)
	var got, sent Request
	if round%2 == 0 {
		got, sent = r.Start(), s.Start()
	} else {
		sent = s.Start()
	}
	order := rng.Perm(s.parts)
	half := s.parts / 2
	for _, i := range order[:half] {
		if err := s.Ready(i); err != nil {
			return err
		}
	}
	// What isn't ready hasn't arrived: the other rank is here too, and not beyond.
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	if round%2 != 0 {
		got = r.Start()
	}
	for i := range r.parts {
		if here, err := r.Arrived(i); err != nil || here && half == 0 {
			return fmt.Errorf("partition %d: arrived %v, %w", i, here, err)
		}
	}
	if _, done, err := sent.Test(); done || err != nil {
		return fmt.Errorf("the send is over before all is ready, %w", err)
	}
	if _, done, err := got.Test(); done || err != nil {
		return fmt.Errorf("the receive is over before all is ready, %w", err)
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	if err := s.ReadyList(order[half:]...); err != nil {
		return err
	}
	want := make([]byte, len(out))
	pattern(want, round)
	for i := range r.parts {
		for {
			here, err := r.Arrived(i)
			if err != nil {
				return err
			}
			if here {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			runtime.Gosched()
		}
		if a, b := i*r.size, (i+1)*r.size; !bytes.Equal(in[a:b], want[a:b]) {
			return fmt.Errorf("partition %d has arrived, with a wrong content", i)
		}
	}
	if st, err := got.Wait(ctx); err != nil || st != (Status{r.peer, r.tag, int64(len(want))}) {
		return fmt.Errorf("received %+v, %w", st, err)
	}
	if _, err := sent.Wait(ctx); err != nil {
		return err
	}
	if !bytes.Equal(in[:len(want)], want) || !bytes.Equal(in[len(want):], bytes.Repeat([]byte{0xee}, 8)) {
		return errors.New("wrong content, or written outside")
	}
	if here, err := r.Arrived(0); !here || err != nil {
		return fmt.Errorf("after the end: arrived %v, %w", here, err)
	}
	return c.Barrier(ctx)
}

// Rule 10: any order of ready calls, from many goroutines, of several sends at once.
func TestRule10ReadyConcurrently(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		const workers, each, count = 8, 16, 3
		var sends, receives []*Partitioned
		var outs, ins [count][]uint32
		for i := range count {
			n := workers * each * []int{1, 50, 5000}[i]
			outs[i], ins[i] = make([]uint32, n), make([]uint32, n)
			sends = append(sends, PsendInit(c, outs[i], workers*each, peer, 5))
			receives = append(receives, PrecvInit(c, ins[i], 4, peer, 5))
		}
		for round := range 3 {
			requests := StartAll(StartAll(nil, receives), sends)
			var wg sync.WaitGroup
			errs := make([]error, workers)
			for k := range workers {
				wg.Go(func() {
					for i, s := range sends {
						part := len(outs[i]) / (workers * each)
						for j := k; j < workers*each; j += workers {
							for e := j * part; e < (j+1)*part; e++ {
								outs[i][e] = uint32(round<<24 + e)
							}
							if err := s.Ready(j); err != nil {
								errs[k] = err
							}
						}
					}
				})
			}
			wg.Wait()
			if err := errors.Join(append(errs, WaitAll(ctx, requests...))...); err != nil {
				return err
			}
			for i := range count {
				for e, v := range ins[i] {
					if v != uint32(round<<24+e) {
						return fmt.Errorf("send %d, round %d: element %d is %#x", i, round, e, v)
					}
				}
			}
		}
		return nil
	})
}

// Rule 10: sends and receives of one tag belong together in the order in which they
// were made, in whatever order they are started, and however often.
func TestRule10InitOrder(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		const count = 5
		var sends, receives []*Partitioned
		in := make([][1]int, count)
		for i := range count {
			sends = append(sends, PsendInit(c, []int{i}, 1, peer, 3))
			receives = append(receives, PrecvInit(c, in[i][:], 1, peer, 3))
		}
		rng := rand.New(rand.NewPCG(2, uint64(c.Rank())))
		for round := range 4 {
			clear(in)
			var requests []Request
			start := func(all []*Partitioned) error {
				for _, i := range rng.Perm(count) {
					requests = append(requests, all[i].Start())
					if all[i].recv {
						continue
					}
					if err := all[i].ReadyRange(0, 1); err != nil {
						return err
					}
				}
				return nil
			}
			sides := [][]*Partitioned{sends, receives}
			for k := range sides {
				if err := start(sides[(k+round)%2]); err != nil {
					return err
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
			}
			if err := WaitAll(ctx, requests...); err != nil {
				return err
			}
			if diff := cmp.Diff([][1]int{{0}, {1}, {2}, {3}, {4}}, in); diff != "" {
				return fmt.Errorf("round %d: %s", round, diff)
			}
		}
		c.world.eng.Lock()
		defer c.world.eng.Unlock()
		if len(c.pairs.early)+len(c.pairs.waiting) != 0 {
			return fmt.Errorf("%d are early, %d wait", len(c.pairs.early), len(c.pairs.waiting))
		}
		return nil
	})
}

// Rule 10, with rules 6 and 11: what can't be is an error of the call, or of Wait, that
// says what is wrong, and changes nothing.
func TestPartitionedErrors(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		b := make([]byte, 12)
		for _, p := range []struct {
			*Partitioned
			want error
		}{
			{PsendInit(c, b, 0, 0, 1), ErrPartition},
			{PsendInit(c, b, -1, 0, 1), ErrPartition},
			{PsendInit(c, b, 5, 0, 1), ErrPartition},
			{PrecvInit(c, b, maxPartitions+1, 0, 1), ErrPartition},
			{PrecvInit(c, b, 1, AnySource, 1), ErrRank},
			{PrecvInit(c, b, 1, 0, AnyTag), ErrTag},
			{PrecvInit(c, b, 1, 1, 1), ErrRank},
			{PsendInit(c, b, 1, 0, -1), ErrTag},
			{PsendInit(c, []string{""}, 1, 0, 1), ErrType},
		} {
			for range 2 {
				if _, err := p.Start().Wait(ctx); !errors.Is(err, p.want) {
					t.Errorf("%d partitions for %d, tag %d: %v, expected %v", p.parts, p.peer, p.tag, err, p.want)
				}
				if err := p.Ready(0); err == nil {
					t.Errorf("Ready: no error, expected %v", p.want)
				}
				if _, err := p.Arrived(0); err == nil {
					t.Errorf("Arrived: no error, expected %v", p.want)
				}
			}
		}

		s, r := PsendInit(c, b, 4, 0, 1), PrecvInit(c, make([]byte, 12), 3, 0, 1)
		fails := func(what string, want error, err error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, expected %v", what, err, want)
			}
		}
		arrived := func(p *Partitioned, i int) error { _, err := p.Arrived(i); return err }
		wait := func(q Request) error { _, err := q.Wait(ctx); return err }
		fails("ready before the start", ErrInactive, s.Ready(0))
		fails("arrived before the start", ErrInactive, arrived(r, 0))
		got, sent := r.Start(), s.Start()
		fails("a second start of a send", ErrActive, wait(s.Start()))
		fails("a second start of a receive", ErrActive, wait(r.Start()))
		fails("ready of a receive", errNotSend, r.Ready(0))
		fails("arrived of a send", errNotRecv, arrived(s, 0))
		fails("no such partition", ErrPartition, s.Ready(4))
		fails("no such partition of a receive", ErrPartition, arrived(r, 3))
		fails("a negative one", ErrPartition, s.Ready(-1))
		fails("a range too far", ErrPartition, s.ReadyRange(0, 5))
		fails("a range backwards", ErrPartition, s.ReadyRange(2, 1))
		fails("a list with one too many", ErrPartition, s.ReadyList(0, 1, 4))
		fails("a list with one twice", ErrPartition, s.ReadyList(0, 1, 0))
		fails("the empty list", nil, s.ReadyList())
		fails("a list", nil, s.ReadyList(1, 0))
		fails("a partition twice", errReady, s.Ready(1))
		fails("a range with one that is ready", errReady, s.ReadyRange(1, 3))
		got.Cancel()
		sent.Cancel()
		fails("the rest", nil, s.ReadyRange(2, 4))
		fails("the send", nil, wait(sent))
		fails("the receive", nil, wait(got))
		fails("ready after the end", ErrInactive, s.Ready(0))

		for _, p := range []*Partitioned{PsendInit(c, b, 3, ProcNull, 1), PrecvInit(c, b, 3, ProcNull, 1)} {
			for range 2 {
				q := p.Start()
				if !p.recv {
					fails("to nobody", nil, p.ReadyRange(0, 3))
				}
				if st, err := q.Wait(ctx); err != nil || st.Source != ProcNull {
					t.Errorf("with nobody: %+v, %v", st, err)
				}
			}
		}
		return nil
	})
}

// Rule 13 for partitions: a send of more bytes than its receive, or fewer, is an error of
// the receive alone; what fits is received, and nothing is written beyond; the next
// round is the same.
func TestPartitionedLengths(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for i, v := range []struct {
			from, fromSize, to, toSize int
			want                       error
		}{
			{4, 400, 3, 300, ErrTruncated},
			{1, 100_000, 2, 50_000, ErrTruncated},
			{10, 1_000_000, 1, 1, ErrTruncated},
			{2, 200, 1, 0, ErrTruncated},
			{3, 300, 4, 400, ErrShort},
			{2, 100_000, 4, 200_000, ErrShort},
			{2, 0, 2, 2, ErrShort},
		} {
			out, in := make([]byte, v.fromSize), bytes.Repeat([]byte{0xee}, v.toSize+50)
			pattern(out, i)
			s, r := PsendInit(c, out, v.from, peer, i), PrecvInit(c, in[:v.toSize], v.to, peer, i)
			for range 2 {
				got, sent := r.Start(), s.Start()
				if err := s.ReadyRange(0, v.from); err != nil {
					return err
				}
				st, err := got.Wait(ctx)
				if !errors.Is(err, v.want) || v.want == ErrTruncated && st.Bytes != int64(v.fromSize) {
					return fmt.Errorf("%+v: %+v, %w", v, st, err)
				}
				if _, err := r.Arrived(0); !errors.Is(err, v.want) {
					return fmt.Errorf("%+v: Arrived: %w", v, err)
				}
				if _, err := sent.Wait(ctx); err != nil {
					return fmt.Errorf("%+v: the send: %w", v, err)
				}
				n := min(v.fromSize, v.toSize)
				if !bytes.Equal(in[:n], out[:n]) || bytes.Contains(in[n:], []byte{0}) || in[len(in)-50] != 0xee {
					return fmt.Errorf("%+v: wrong content, or written outside", v)
				}
			}
		}
		return nil
	})
}

// Rule 21 for partitions: a receive whose sender has finished, or died, before it has
// said anything or in the middle of a round, is an error.
func TestPartitionedPeerGone(t *testing.T) {
	for _, some := range []int{-1, 0, 1, 3} { // partitions that it has made ready; -1: not started
		for _, dies := range []bool{false, true} {
			errs := runErrors(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
				if c.Rank() == 0 {
					s := PsendInit(c, make([]byte, 400), 4, 1, 1)
					if some >= 0 {
						s.Start()
						if err := s.ReadyRange(0, some); err != nil {
							return err
						}
					}
					if _, err := Recv(ctx, c, []byte(nil), 1, 9); err != nil {
						return err
					}
					if dies {
						return errors.New("dies")
					}
					return nil
				}
				r := PrecvInit(c, make([]byte, 400), 4, 0, 1)
				q := r.Start()
				if err := Send(ctx, c, []byte(nil), 0, 9); err != nil {
					return err
				}
				var gone *PeerError
				if _, err := q.Wait(ctx); !errors.As(err, &gone) || gone.Rank != 0 {
					return fmt.Errorf("Wait: %w", err)
				}
				if _, err := r.Start().Wait(ctx); !errors.As(err, &gone) {
					return fmt.Errorf("Wait of another round: %w", err)
				}
				return errExpected // without Close, which needs the other rank
			})
			if errs[1] != errExpected {
				t.Errorf("%d partitions, dies %v: %v", some, dies, errs[1])
			}
		}
	}
}

var errExpected = errors.New("as expected")

// A round allocates nothing, once its requests are there.
func TestPartitionedNoAllocations(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		ctx = context.WithoutCancel(ctx)
		b := make([]byte, 8000)
		s, r := PsendInit(c, b, 8, 0, 1), PrecvInit(c, make([]byte, 8000), 5, 0, 1)
		var failed error
		if got := testing.AllocsPerRun(1000, func() {
			q, p := r.Start(), s.Start()
			for i := range 8 {
				if err := s.Ready(7 - i); err != nil {
					failed = err
				}
			}
			if _, err := p.Wait(ctx); err != nil {
				failed = err
			}
			if _, err := q.Wait(ctx); err != nil {
				failed = err
			}
		}); got != 0 {
			t.Errorf("%v allocations in a round", got)
		}
		return failed
	})
}

func FuzzParseParting(f *testing.F) {
	good := parting{n: 1, parts: 4, tag: 8, bytes: 400}
	var b [partingSize]byte
	good.put(&b)
	f.Add(b[:], int64(partingSize))
	f.Add(make([]byte, partingSize), int64(partingSize))
	f.Add(bytes.Repeat([]byte{0xff}, partingSize), int64(partingSize))
	f.Fuzz(func(t *testing.T, data []byte, n int64) {
		var b, again [partingSize]byte
		copy(b[:], data)
		o, ok := parseParting(&b, n)
		if !ok {
			return
		}
		if o.put(&again); again != b {
			t.Errorf("%v is written as %x, was %x", o, again, b)
		}
		if o.parts == 0 || uint64(o.size())*uint64(o.parts) != o.bytes || int64(o.tag)+int64(o.parts)-1 > MaxTag {
			t.Errorf("%+v was taken", o)
		}
	})
}
