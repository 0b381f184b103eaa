package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// sizes are messages at every edge of the protocols: line, cell, inline, eager
// limit, chunks, pieces.
var sizes = []int{
	0, 1, 8, 39, 40, 41, 95, 96, 97, 184, 199, 200, 201, 384, 1000, 4096,
	8191, 8192, 8193, 16383, 16384, 16385, 32768, 65535, 65537, 262144, 262145, 1 << 20, 3<<20 + 7,
}

func pattern(buf []byte, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	for i := range buf {
		if i%8 == 0 || i < 16 {
			buf[i] = byte(r.Uint32())
		} else {
			buf[i] = buf[i-8] + 1
		}
	}
}

// Every size arrives, posted first and unexpected first, and what lies around
// the buffer stays.
func TestSizes(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			for i, n := range sizes {
				for _, posted := range []bool{true, false} {
					if c.Rank() == 0 {
						buf := make([]byte, n)
						pattern(buf, i)
						if posted {
							if _, err := Recv(ctx, c, []byte(nil), 1, 9); err != nil {
								return err
							}
						}
						r := Isend(c, buf, 1, 100+i)
						if !posted {
							if err := Send(ctx, c, []byte{1}, 1, 8); err != nil {
								return err
							}
						}
						if _, err := r.Wait(ctx); err != nil {
							return err
						}
						continue
					}
					want, all := make([]byte, n), bytes.Repeat([]byte{0xee}, n+64)
					pattern(want, i)
					var r Request
					if posted {
						r = Irecv(c, all[32:32+n], 0, 100+i)
						if err := Send(ctx, c, []byte(nil), 0, 9); err != nil {
							return err
						}
					} else {
						if _, err := Recv(ctx, c, make([]byte, 1), 0, 8); err != nil {
							return err
						}
						r = Irecv(c, all[32:32+n], 0, 100+i)
					}
					s, err := r.Wait(ctx)
					if err != nil {
						return err
					}
					if (s != Status{Source: 0, Tag: 100 + i, Bytes: int64(n)}) {
						return fmt.Errorf("%d bytes: status %+v", n, s)
					}
					if !bytes.Equal(all[32:32+n], want) {
						return fmt.Errorf("%d bytes, posted first %v: wrong content", n, posted)
					}
					for _, b := range append(all[:32:32], all[32+n:]...) {
						if b != 0xee {
							return fmt.Errorf("%d bytes: written outside the buffer", n)
						}
					}
				}
			}
			return nil
		})
	})
}

// A message longer than the buffer: the error, the true length, nothing past the
// buffer, the sender completes, the next message is right (rule 13); at every edge of
// a protocol, posted first and unexpected first.
func TestTruncation(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			for _, n := range sizes[1:] {
				for _, room := range slices.Compact([]int{0, n / 2, n - 1}) {
					for _, posted := range []bool{true, false} {
						f := truncated
						if c.Rank() == 0 {
							f = tooLong
						}
						if err := f(ctx, c, n, room, posted); err != nil {
							return fmt.Errorf("%d bytes into %d, posted first %v: %w", n, room, posted, err)
						}
					}
				}
			}
			return nil
		})
	})
}

// Tags of TestTruncation.
const (
	tagLong = iota + 3
	tagPosted
	tagSent
)

func tooLong(ctx context.Context, c *Comm, n, room int, posted bool) error {
	if posted {
		if _, err := Recv(ctx, c, []byte{}, 1, tagPosted); err != nil {
			return err
		}
	}
	buf := make([]byte, n)
	pattern(buf, n)
	first, second := Isend(c, buf, 1, tagLong), Isend(c, []byte{77}, 1, tagLong)
	if err := Send(ctx, c, []byte{}, 1, tagSent); err != nil {
		return err
	}
	return WaitAll(ctx, first, second)
}

func truncated(ctx context.Context, c *Comm, n, room int, posted bool) error {
	want, all := make([]byte, n), bytes.Repeat([]byte{0xee}, n+64)
	pattern(want, n)
	var r Request
	if posted {
		r = Irecv(c, all[:room], 0, tagLong)
		if err := Send(ctx, c, []byte{}, 0, tagPosted); err != nil {
			return err
		}
	}
	if _, err := Recv(ctx, c, []byte{}, 0, tagSent); err != nil {
		return err
	}
	if !posted {
		r = Irecv(c, all[:room], 0, tagLong)
	}
	s, err := r.Wait(ctx)
	if !errors.Is(err, ErrTruncated) || (s != Status{Source: 0, Tag: tagLong, Bytes: int64(n)}) {
		return fmt.Errorf("%+v, %w", s, err)
	}
	if !bytes.Equal(all[:room], want[:room]) || bytes.Count(all[room:], []byte{0xee}) != len(all)-room {
		return errors.New("wrong bytes, or some outside of the buffer")
	}
	one := []byte{0}
	if s, err := Recv(ctx, c, one, 0, tagLong); err != nil || one[0] != 77 || s.Bytes != 1 {
		return fmt.Errorf("the next message: %v, %+v, %w", one, s, err)
	}
	return nil
}

// Messages of one sender arrive in order, whatever way each took, for receives
// with and without wildcards.
func TestOrder(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 3, cfg, func(ctx context.Context, c *Comm) error {
			const count = 400
			if c.Rank() > 0 {
				rng := rand.New(rand.NewPCG(1, uint64(c.Rank())))
				var pending []Request
				for i := range count {
					buf := make([]uint32, 1+[]int{0, 5, 60, 3000, 20000}[rng.IntN(5)])
					buf[0] = uint32(i)
					pending = append(pending, Isend(c, buf, 0, 4))
				}
				return WaitAll(ctx, pending...)
			}
			next := []int{0, 0, 0}
			buf := make([]uint32, 20001)
			for range 2 * count {
				s, err := Recv(ctx, c, buf, AnySource, AnyTag)
				if err != nil {
					return err
				}
				if int(buf[0]) != next[s.Source] {
					return fmt.Errorf("from %d: message %d, want %d", s.Source, buf[0], next[s.Source])
				}
				next[s.Source]++
			}
			return nil
		})
	})
}

// Windows larger than everything that holds messages, both ways at once.
func TestWindows(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		for _, n := range []int{8, 1000, 16384, 30000} {
			run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
				const window = 1024
				other := 1 - c.Rank()
				var reqs []Request
				bufs := make([][]byte, window)
				out := make([]byte, n)
				for i := range window {
					bufs[i] = make([]byte, n)
					reqs = append(reqs, Isend(c, out, other, i))
				}
				for i := range window {
					reqs = append(reqs, Irecv(c, bufs[i], other, i))
				}
				return WaitAll(ctx, reqs...)
			})
		}
	})
}

// Rule 3: messages to oneself match like all others; a short one needs no receive.
func TestSelf(t *testing.T) {
	for _, n := range []int{1, 2} {
		run(t, n, Config{}, func(ctx context.Context, c *Comm) error {
			me := c.Rank()
			for i, size := range sizes {
				out, in := make([]byte, size), make([]byte, size)
				pattern(out, i)
				if size <= 16384 { // a blocking self-send returns
					if err := Send(ctx, c, out, me, 1); err != nil {
						return err
					}
					if _, err := Recv(ctx, c, in, AnySource, AnyTag); err != nil {
						return err
					}
				} else {
					r := Isend(c, out, me, 1)
					if s, err := Recv(ctx, c, in, me, 1); err != nil || s.Bytes != int64(size) {
						return fmt.Errorf("%+v, %w", s, err)
					}
					if _, err := r.Wait(ctx); err != nil {
						return err
					}
				}
				if !bytes.Equal(in, out) {
					return fmt.Errorf("%d bytes: wrong content", size)
				}
			}
			// Above the limit a blocking self-send waits for its receive, and a
			// context ends the wait: nothing was sent.
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			if err := Send(short, c, make([]byte, 100000), me, 2); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a large blocking self-send: %v", err)
			}
			if err := Send(ctx, c, []byte{1}, me, 2); err != nil {
				return err
			}
			if s, err := Recv(ctx, c, make([]byte, 10), me, 2); err != nil || s.Bytes != 1 {
				return fmt.Errorf("after a cancelled self-send: %+v, %w", s, err)
			}
			return nil
		})
	}
}

// Bad arguments: the error names the call, the value and the bound.
func TestArguments(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		b := make([]int32, 80)
		_, recv := Recv(ctx, c, b, -1, 7)
		_, tag := Recv(ctx, c, b, 0, -3)
		_, isend := Isend(c, b, -1, 7).Wait(ctx)
		_, irecv := Irecv(c, b, 9, 7).Wait(ctx)
		for _, v := range []struct {
			err  error
			is   error
			want string
		}{
			{isend, ErrRank, "comm: rank 0: Isend(peer -1, tag 7, 320 B): no such rank: rank -1 is not in 0..0 (for no neighbour use comm.ProcNull)"},
			{recv, ErrRank, "comm: rank 0: Recv(peer -1, tag 7, 320 B): no such rank: rank -1 is not in 0..0 (for no neighbour use comm.ProcNull, for any comm.AnySource)"},
			{irecv, ErrRank, "rank 9 is not in 0..0"},
			{Send(ctx, c, b, 1, 0), ErrRank, "rank 1 is not in 0..0"},
			{Send(ctx, c, b, AnySource, 0), ErrRank, "Send(peer AnySource"},
			{Send(ctx, c, b, 0, MaxTag+1), ErrTag, "tag 2147483648 is not in 0..2147483647"},
			{tag, ErrTag, "tag -3 is not in 0..2147483647 (for any tag use comm.AnyTag)"},
			{Send(ctx, c, []string{"a"}, 0, 0), ErrType, "string has pointers"},
			{Send(ctx, c, []struct{ A, B *int }{}, 0, 0), ErrType, "A: *int"},
			{Send(ctx, c, []struct{}{{}}, 0, 0), ErrType, "has no size"},
		} {
			var e *Error
			if !errors.Is(v.err, v.is) || !errors.As(v.err, &e) || !strings.Contains(v.err.Error(), v.want) {
				t.Errorf("got %v; want %q", v.err, v.want)
			}
		}
		if err := Send(ctx, c, b, ProcNull, 0); err != nil {
			t.Error(err)
		}
		if s, err := Recv(ctx, c, b, ProcNull, 0); err != nil || s.Source != ProcNull || s.Bytes != 0 {
			t.Error(s, err)
		}
		return nil
	})
}

// A context that ends while a receive is blocked: nothing was received, and the
// next receive gets the message.
func TestRecvContext(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			if _, err := Recv(ctx, c, []byte(nil), 0, 0); err != nil {
				return err
			}
			return Send(ctx, c, []byte{5}, 0, 1)
		}
		buf := []byte{0}
		for range 20 {
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			_, err := Recv(short, c, buf, 1, 1)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("Recv with a deadline: %v", err)
			}
		}
		r := Irecv(c, buf, 1, 1)
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := r.Wait(done); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("Wait with a cancelled context: %v", err)
		}
		if err := Send(ctx, c, []byte(nil), 1, 0); err != nil {
			return err
		}
		if _, err := r.Wait(ctx); err != nil || buf[0] != 5 {
			return fmt.Errorf("the request went on: %v, %v", buf, err)
		}
		if _, err := r.Wait(ctx); !errors.Is(err, ErrDone) {
			return fmt.Errorf("a second Wait: %v", err)
		}
		return nil
	})
}

// Many goroutines, each with its own tag, are each woken by their own message.
func TestGoroutines(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			const workers, rounds = 8, 60
			other := 1 - c.Rank()
			errs := make([]error, workers)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					out, in := make([]uint64, 1+w*700), make([]uint64, 1+w*700)
					for i := range rounds {
						out[0] = uint64(w*rounds + i)
						r := Isend(c, out, other, w)
						if _, err := Recv(ctx, c, in, other, w); err != nil {
							errs[w] = err
							return
						}
						if _, err := r.Wait(ctx); err != nil || in[0] != out[0] {
							errs[w] = fmt.Errorf("worker %d round %d: got %d, %w", w, i, in[0], err)
							return
						}
					}
				})
			}
			wg.Wait()
			return errors.Join(errs...)
		})
	})
}

// A peer that ends is an error, not a hang.
func TestPeerGone(t *testing.T) {
	errs := runErrors(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		switch c.Rank() {
		case 2:
			if err := Send(ctx, c, []byte{9}, 0, 0); err != nil {
				return err
			}
			return errors.New("I give up")
		case 0:
			// What it had sent is delivered; then its end is heard.
			buf := []byte{0}
			if _, err := Recv(ctx, c, buf, 2, 0); err != nil || buf[0] != 9 {
				return fmt.Errorf("%v, %w", buf, err)
			}
			_, err := Recv(ctx, c, buf, 2, 0)
			var gone *PeerError
			if !errors.As(err, &gone) || gone.Rank != 2 {
				return fmt.Errorf("Recv from a rank that is gone: %w", err)
			}
			if err := Send(ctx, c, buf, 2, 0); !errors.As(err, &gone) {
				return fmt.Errorf("Send to a rank that is gone: %w", err)
			}
			if err := Send(ctx, c, make([]byte, 100000), 2, 0); !errors.As(err, &gone) {
				return fmt.Errorf("large Send to a rank that is gone: %w", err)
			}
			// The others go on.
			return Send(ctx, c, []byte{1}, 1, 0)
		}
		_, err := Recv(ctx, c, []byte{0}, 0, 0)
		return err
	})
	for r, err := range errs {
		var gone *PeerError
		if r < 2 && err != nil && !errors.As(err, &gone) { // the closing barrier may name rank 2
			t.Errorf("rank %d: %v", r, err)
		}
	}
	if errs[2] == nil {
		t.Error("rank 2 did not fail")
	}
}

func TestBarrier(t *testing.T) {
	for n := 1; n <= 6; n++ {
		var mu sync.Mutex
		in := 0
		run(t, n, Config{}, func(ctx context.Context, c *Comm) error {
			for round := 1; round <= 5; round++ {
				mu.Lock()
				in++
				mu.Unlock()
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				mu.Lock()
				got := in
				mu.Unlock()
				if got < round*n {
					return fmt.Errorf("round %d: left the barrier when %d had come", round, got)
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Calls that are blocked when the world closes end with ErrClosed.
func TestCloseWhileBlocked(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		other, buf := 1-c.Rank(), make([]byte, 8)
		calls := []func() error{
			func() error { _, err := Recv(ctx, c, buf, other, 50); return err },
			func() error { _, _, err := RecvAppend[byte](ctx, c, nil, other, 51); return err },
			func() error { _, err := Sendrecv(ctx, c, buf, other, 60, buf, other, 52); return err },
			func() error { _, err := c.Probe(ctx, other, 53); return err },
			func() error { _, err := c.Mprobe(ctx, AnySource, 54); return err },
			func() error { _, _, err := WaitAny(ctx, []Request{Irecv(c, buf, other, 55)}); return err },
			func() error { _, err := WaitSome(ctx, []Request{Irecv(c, buf, other, 56)}, []int{0}); return err },
		}
		errs := make(chan error, len(calls))
		for _, call := range calls {
			go func() { errs <- call() }()
		}
		for c.World().Info().Counters["wait.parks"] < uint64(len(calls)-1) {
			runtime.Gosched()
		}
		if err := c.Barrier(ctx); err != nil { // a Close ends the other's calls too
			return err
		}
		if err := c.World().Close(ctx); err != nil && !strings.Contains(err.Error(), "were not waited for") {
			return err
		}
		for range calls {
			var gone *PeerError
			if err := <-errs; !errors.Is(err, ErrClosed) && !errors.As(err, &gone) && !errors.Is(err, errAllFinished) {
				return fmt.Errorf("a blocked call ended with %v", err)
			}
		}
		return nil
	})
}
