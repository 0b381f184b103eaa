package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// Rule 9: everybody sends to the right and receives from the left, at any size, in
// buffers of its own and in place, alone and in company.
func TestSendrecv(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		for _, ranks := range []int{1, 2, 3} {
			run(t, ranks, cfg, func(ctx context.Context, c *Comm) error {
				right, left := (c.Rank()+1)%ranks, (c.Rank()+ranks-1)%ranks
				for i, n := range sizes {
					out, want, in := make([]byte, n), make([]byte, n), bytes.Repeat([]byte{0xee}, n+9)
					pattern(out, 100*c.Rank()+i)
					pattern(want, 100*left+i)
					s, err := Sendrecv(ctx, c, out, right, i, in, left, i)
					if err != nil || (s != Status{left, i, int64(n)}) || !bytes.Equal(in[:n], want) || in[n] != 0xee {
						return fmt.Errorf("Sendrecv, %d bytes: %+v, %w", n, s, err)
					}
					s, err = SendrecvReplace(ctx, c, out, right, i, left, AnyTag)
					if err != nil || (s != Status{left, i, int64(n)}) || !bytes.Equal(out, want) {
						return fmt.Errorf("SendrecvReplace, %d bytes: %+v, %w", n, s, err)
					}
				}
				return nil
			})
		}
	})
}

// The halves may differ in type and length; either may be nobody; and each half's
// failure says which it is.
func TestSendrecvHalves(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		in := make([]uint32, 5)
		s, err := Sendrecv(ctx, c, []uint64{1<<32 | 2}, 0, 1, in, AnySource, AnyTag)
		if err != nil || s.Bytes != 8 || in[0] != 2 || in[1] != 1 {
			t.Errorf("%v, %+v, %v", in, s, err)
		}
		if s, err = Sendrecv(ctx, c, []byte{1}, ProcNull, 1, in, ProcNull, 1); err != nil || s.Source != ProcNull {
			t.Errorf("from nobody to nobody: %+v, %v", s, err)
		}
		if s, err = Sendrecv(ctx, c, []uint32{8}, 0, 1, in, ProcNull, 1); err != nil || s.Source != ProcNull {
			t.Errorf("from nobody: %+v, %v", s, err)
		}
		if s, err = Sendrecv(ctx, c, []byte{1}, ProcNull, 1, in, 0, 1); err != nil || s.Bytes != 4 || in[0] != 8 {
			t.Errorf("to nobody: %v, %+v, %v", in, s, err)
		}
		s, err = Sendrecv(ctx, c, make([]byte, 30), 0, 1, in, 0, 1)
		if !errors.Is(err, ErrTruncated) || s.Bytes != 30 {
			t.Errorf("a longer message: %+v, %v", s, err)
		}
		var e *Error
		if _, err = Sendrecv(ctx, c, []byte{1}, 1, 4, in, 0, 5); !errors.Is(err, ErrRank) || !errors.As(err, &e) || e.Tag != 4 || e.Bytes != 1 {
			t.Errorf("to rank 1: %v", err)
		}
		if _, err = Sendrecv(ctx, c, []byte{1}, 0, 4, in, 0, -5); !errors.Is(err, ErrTag) || !errors.As(err, &e) || e.Tag != -5 || e.Bytes != 20 {
			t.Errorf("a tag below 0: %v", err)
		}
		if _, err = Sendrecv(ctx, c, []string{"a"}, 0, 4, in, 0, 5); !errors.Is(err, ErrType) {
			t.Errorf("strings: %v", err)
		}
		if _, err = SendrecvReplace(ctx, c, []byte{1}, 0, 4, 3, 5); !errors.Is(err, ErrRank) || !errors.As(err, &e) || e.Op != "SendrecvReplace" {
			t.Errorf("from rank 3: %v", err)
		}
		return nil
	})
}

// Rules 9 and 12: a context that ends leaves nothing behind of what was not matched,
// and one half's failure ends the other.
func TestSendrecvEnds(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		for _, n := range []int{8, 100_000} {
			buf := bytes.Repeat([]byte{3}, n)
			if _, err := SendrecvReplace(ended, c, buf, 0, 1, 0, 2); !errors.Is(err, context.Canceled) {
				t.Errorf("%d bytes: %v", n, err)
			}
			if bytes.Count(buf, []byte{3}) != n {
				t.Errorf("%d bytes: the buffer has changed", n)
			}
			_, found, err := c.Iprobe(0, 1)
			if sent := n == 8; found != sent || err != nil { // a short one is sent at once
				t.Errorf("%d bytes: sent %v, %v", n, found, err)
			}
			if found {
				if _, err := Recv(ctx, c, buf, 0, 1); err != nil {
					return err
				}
			}
			peek(c.World(), func(w *World) bool {
				if w.table.NumPosted() != 0 || w.table.NumUnexpected() != 0 || w.active != 0 {
					t.Errorf("%d bytes: something is left", n)
				}
				return true
			})
		}
		return nil
	})
	errs := runErrors(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			return errors.New("I give up")
		}
		var gone *PeerError
		if _, err := Sendrecv(ctx, c, []byte{1}, 0, 1, []byte{0}, 1, 1); !errors.As(err, &gone) {
			t.Errorf("from a rank that gives up: %v", err)
		}
		if _, err := Sendrecv(ctx, c, []byte{1}, 1, 1, []byte{0}, 0, 9); !errors.As(err, &gone) {
			t.Errorf("to a rank that has given up, from one that doesn't send: %v", err)
		}
		return nil
	})
	var gone *PeerError
	if errs[0] != nil && !errors.As(errs[0], &gone) {
		t.Error(errs[0])
	}
}

// Rule 9, with rule 8: both ways at once in every mode, with others and with oneself,
// in place too, at every edge.
func TestRule9Modes(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, mode := range []Mode{Standard, Sync, Buffered, ReadyMode} {
			for i, n := range edges {
				out, in, want := make([]byte, n), make([]byte, n), make([]byte, n)
				pattern(out, 100*c.Rank()+i)
				pattern(want, 100*peer+i)
				s, err := Sendrecv(ctx, c, out, peer, i, in, peer, i, mode)
				if err != nil || (s != Status{peer, i, int64(n)}) || !bytes.Equal(in, want) {
					return fmt.Errorf("Sendrecv, %v, %d bytes: %+v, %w", mode, n, s, err)
				}
				s, err = SendrecvReplace(ctx, c, out, peer, i, AnySource, i, mode)
				if err != nil || (s != Status{peer, i, int64(n)}) || !bytes.Equal(out, want) {
					return fmt.Errorf("SendrecvReplace, %v, %d bytes: %+v, %w", mode, n, s, err)
				}
			}
		}
		return nil
	})
}
