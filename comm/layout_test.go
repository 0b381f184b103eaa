package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spotted is a buffer of bytes with a layout of n of them, and which those are.
type spotted struct {
	layout *Layout
	places []int
	size   int // of the buffer
}

// shapes are layouts of n bytes, none of them like another.
var shapes = []struct {
	name string
	make func(n int) spotted
}{
	{"none", func(n int) spotted { return spotted{nil, upTo(n), n} }},
	{"contiguous", func(n int) spotted { return spotted{Strided(n, 1, 1), upTo(n), n + 9} }},
	{"column", func(n int) spotted {
		s := spotted{Strided(n, 1, 3), nil, 3 * n}
		for i := range n {
			s.places = append(s.places, 3*i)
		}
		return s
	}},
	{"blocks", func(n int) spotted {
		var s spotted
		var lengths, offsets []int
		for at := 11; len(s.places) < n; at += 13 {
			l := min(7, n-len(s.places))
			lengths, offsets = append(lengths, l), append(offsets, at)
			for i := range l {
				s.places = append(s.places, at+i)
			}
			s.size = at + 13
		}
		s.layout, _ = IndexedBlocks(lengths, offsets)
		return s
	}},
	{"backwards", func(n int) spotted {
		s := spotted{size: 2*n + 5}
		for i := range n {
			s.places = append(s.places, 2*(n-1-i))
		}
		s.layout, _ = Indexed(1, s.places)
		return s
	}},
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// buffer has a message in its places, or nothing.
func (s spotted) buffer(msg []byte) []byte {
	b := bytes.Repeat([]byte{0xee}, s.size)
	for i, v := range msg[:min(len(msg), len(s.places))] {
		b[s.places[i]] = v
	}
	return b
}

func (s spotted) options() []Option {
	if s.layout == nil {
		return nil
	}
	return []Option{s.layout}
}

// Rules 13 and 15: layouts of other shapes on both sides, at every edge of the
// protocols; the message as long as the receive's layout, shorter, and longer. No byte
// is written that lies between elements, or that the message doesn't reach.
func TestRule15Shapes(t *testing.T) {
	lengths := edges
	if testing.Short() || raceEnabled {
		lengths = []int{0, 1, 41, 385, 200, 201, 16384, 16385, 100000}
	}
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for i, n := range lengths {
			for k := range shapes {
				out, in := shapes[k], shapes[(k+1+i%(len(shapes)-1))%len(shapes)]
				rooms := []int{n, n / 2}
				if (i+k)%2 == 0 {
					rooms = []int{n + 10, max(n-3, 0)}
				}
				for _, room := range rooms {
					for _, posted := range []bool{true, false} {
						if err := exchangeShapes(ctx, c, peer, out.make(n), in.make(room), posted, k%2 == 0); err != nil {
							return fmt.Errorf("%d bytes %s into %d %s, posted first %v: %w", n, out.name, room, in.name, posted, err)
						}
					}
				}
			}
		}
		return nil
	})
}

func exchangeShapes(ctx context.Context, c *Comm, peer int, from, to spotted, posted, blocking bool) error {
	n, room := len(from.places), len(to.places)
	msg := make([]byte, n)
	pattern(msg, n)
	out, in := from.buffer(msg), to.buffer(nil)
	send := func() Request {
		if blocking && (posted || n <= c.world.limit) {
			return c.failed("Send", peer, 1, nil, Send(ctx, c, out, peer, 1, from.options()...))
		}
		return Isend(c, out, peer, 1, from.options()...)
	}
	var s, r Request
	if posted {
		r = Irecv(c, in, peer, 1, to.options()...)
		if err := c.Barrier(ctx); err != nil {
			return err
		}
	}
	s = send()
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	var status Status
	var err error
	switch {
	case posted:
		status, err = r.Wait(ctx)
	case blocking:
		status, err = Recv(ctx, c, in, peer, 1, to.options()...)
	default:
		var m *Message
		if m, err = c.Mprobe(ctx, peer, 1); err == nil {
			status, err = RecvMessage(ctx, m, in, to.options()...)
		}
	}
	if n > room && !errors.Is(err, ErrTruncated) || n <= room && err != nil || (status != Status{peer, 1, int64(n)}) {
		return fmt.Errorf("%+v, %w", status, err)
	}
	if want := to.buffer(msg); !bytes.Equal(in, want) {
		return errors.New("wrong bytes, or some that are not the message's")
	}
	if _, err := s.Wait(ctx); err != nil && !strings.Contains(err.Error(), "Send(") {
		return err
	}
	return c.Barrier(ctx)
}

// Rule 15: the columns of a matrix, as large messages and as small ones, of any type.
func TestRule15Column(t *testing.T) {
	type pair struct {
		A int32
		B float64
	}
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			for _, rows := range []int{1, 10, 3000} {
				const columns = 5
				m := make([]pair, rows*columns)
				for i := range m {
					m[i] = pair{int32(c.Rank()), float64(i)}
				}
				column := Strided(rows, 1, columns)
				// Column 1 goes to the neighbour, whose column 1 becomes column 3.
				status, err := Sendrecv(ctx, c, m[1:], 1-c.Rank(), 1, m[3:], 1-c.Rank(), 1, column)
				if err != nil || status.Bytes != int64(rows*16) {
					return fmt.Errorf("%+v, %w", status, err)
				}
				for i, v := range m {
					want := pair{int32(c.Rank()), float64(i)}
					if i%columns == 3 {
						want = pair{int32(1 - c.Rank()), float64(i - 2)}
					}
					if v != want {
						return fmt.Errorf("%d rows: element %d is %v, want %v", rows, i, v, want)
					}
				}
			}
			return nil
		})
	})
}

// Rule 15: the margins of blocks in two and in three dimensions, with subarrays; the
// blocks of a ring of three ranks, which meet in each dimension in turn.
func TestRule15Halo(t *testing.T) {
	for _, shape := range [][]int{{6, 7}, {5, 4, 6}, {40, 50, 60}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
				next, last := (c.Rank()+1)%3, (c.Rank()+2)%3
				for d := range shape {
					if err := halo(ctx, c, shape, d, next, last); err != nil {
						return fmt.Errorf("dimension %d: %w", d, err)
					}
				}
				return nil
			})
		})
	}
}

// halo sends the last inner layer in dimension d to next, and receives into the margin.
func halo(ctx context.Context, c *Comm, shape []int, d, next, last int) error {
	n := 1
	size, start := slices.Clone(shape), make([]int, len(shape))
	for i, s := range shape {
		n *= s
		start[i], size[i] = 1, s-2
	}
	a := make([]float32, n)
	for i := range a {
		a[i] = float32(c.Rank()*n + i)
	}
	size[d] = 1
	start[d] = shape[d] - 2
	inner, err := Subarray(shape, start, size)
	if err != nil {
		return err
	}
	start[d] = 0
	margin, err := Subarray(shape, start, size)
	if err != nil {
		return err
	}
	if _, err := Sendrecv(ctx, c, a, next, d, a, last, d, inner, margin); err != nil {
		return err
	}
	across := 1 // elements from one layer to the next
	for _, s := range shape[d+1:] {
		across *= s
	}
	for i, v := range a {
		want := float32(c.Rank()*n + i)
		rest, inside := i, true
		for k := len(shape) - 1; k >= 0; k-- {
			x := rest % shape[k]
			rest /= shape[k]
			inside = inside && (k == d && x == 0 || k != d && x > 0 && x < shape[k]-1)
		}
		if inside {
			want = float32(last*n + i + across*(shape[d]-2))
		}
		if v != want {
			return fmt.Errorf("element %d is %v, want %v", i, v, want)
		}
	}
	return nil
}

// Sendrecv with other layouts on both sides, and in place; with oneself, with a
// neighbour, and with none.
func TestSendrecvLayouts(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, n := range []int{1, 20, 30000} {
			out, in := make([]int64, 2*n), make([]int64, 3*n)
			for i := range out {
				out[i] = int64(i)
			}
			two, three := Strided(n, 1, 2), Strided(n, 1, 3)
			if _, err := Sendrecv(ctx, c, out, peer, 1, in, peer, 1, two, three); err != nil {
				return err
			}
			if _, err := Sendrecv(ctx, c, out, ProcNull, 1, in, ProcNull, 1, two, three, Sync); err != nil {
				return err
			}
			for i, v := range in {
				if i%3 == 0 && v != int64(i/3*2) || i%3 != 0 && v != 0 {
					return fmt.Errorf("%d: element %d is %d", n, i, v)
				}
			}
			for i := range out {
				out[i] = int64(i + c.Rank()*1000)
			}
			if _, err := SendrecvReplace(ctx, c, out, peer, 1, peer, 1, two, Sync); err != nil {
				return err
			}
			for i, v := range out {
				want := int64(i + c.Rank()*1000)
				if i%2 == 0 {
					want = int64(i + peer*1000)
				}
				if v != want {
					return fmt.Errorf("in place, %d: element %d is %d, want %d", n, i, v, want)
				}
			}
			if _, err := SendrecvReplace(ctx, c, out, peer, 1, peer, 1, Sync); err != nil {
				return err
			}
		}
		return nil
	})
}

// Layouts that can't be, or don't fit, say so before anything has happened.
func TestLayoutErrors(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		b := make([]float64, 90)
		overlapping, err := Indexed(2, []int{0, 5, 1})
		if err != nil {
			return err
		}
		column := Strided(10, 1, 10)
		recv := func(l ...Option) error { _, err := Recv(ctx, c, b, 0, 1, l...); return err }
		wait := func(q Request) error { _, err := q.Wait(ctx); return err }
		_, sub := Subarray([]int{3}, []int{2}, []int{2})
		_, indexed := Indexed(1, []int{-1})
		_, lengths := IndexedBlocks([]int{1}, nil)
		_, both := Sendrecv(ctx, c, b, 0, 1, b, 0, 1, column, column)
		_, inPlace := SendrecvReplace(ctx, c, b, 0, 1, 0, 1, overlapping)
		_, three := Sendrecv(ctx, c, b, 0, 1, b, 0, 1, column, column, column)
		for _, v := range []struct {
			err  error
			is   error
			want string
		}{
			{Send(ctx, c, b, 0, 1, column), ErrLayout, "Send(peer 0, tag 1, 720 B): the layout does not fit: it needs a buffer of 91 elements, this one has 90"},
			{Send(ctx, c, b, ProcNull, 1, column), ErrLayout, "91 elements"},
			{wait(Isend(c, b, 0, 1, column)), ErrLayout, "91 elements"},
			{recv(column), ErrLayout, "91 elements"},
			{wait(Irecv(c, b, 0, 1, column)), ErrLayout, "91 elements"},
			{both, ErrLayout, "91 elements"},
			{recv(overlapping), ErrLayout, "a receive: 2 elements from 0 overlap with 2 from 1"},
			{recv(Strided(3, 2, 1)), ErrLayout, "overlap"},
			{inPlace, ErrLayout, "overlap"},
			{recv(Strided(-3, 2, 1)), ErrLayout, "Strided(-3, 2, 1): a negative number"},
			{Send(ctx, c, b, 0, 1, Strided(1<<60, 1, 1)), ErrLayout, "it needs a buffer of 1152921504606846976 elements"},
			{Send(ctx, c, b, 0, 1, Strided(1<<62, 1, 0)), ErrLayout, "the layout does not fit"},
			{recv(Strided(1, 1, 1), Strided(1, 1, 1)), ErrOption, "2 layouts for 1"},
			{three, ErrOption, "3 layouts for 2"},
			{sub, ErrLayout, "comm: Subarray: the layout does not fit: dimension 0: 2 from 2 of 3"},
			{indexed, ErrLayout, "comm: Indexed: "},
			{lengths, ErrLayout, "comm: IndexedBlocks: "},
		} {
			if !errors.Is(v.err, v.is) || !strings.Contains(v.err.Error(), v.want) {
				t.Errorf("%v; want %q", v.err, v.want)
			}
		}
		if _, found, err := c.Iprobe(0, 1); found || err != nil {
			t.Errorf("something was sent: %v", err)
		}
		// To send what overlaps is fine, and so is a layout that is none.
		for _, l := range []*Layout{overlapping, Strided(3, 2, 0), Strided(0, 1, 1), nil} {
			if err := Send(ctx, c, b, 0, 1, l); err != nil {
				t.Error(err)
			}
			if _, err := Recv(ctx, c, b, 0, 1, (*Layout)(nil)); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
}

// Small messages with a layout allocate nothing, on either side.
func TestLayoutsNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		a := make([]float64, 1000)
		column := Strided(90, 1, 10)
		if n := testing.AllocsPerRun(200, func() {
			r := Irecv(c, a[1:], 0, 1, column)
			if err := Send(ctx, c, a, 0, 1, column); err != nil {
				t.Error(err)
			}
			if _, err := r.Wait(ctx); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
		return nil
	})
}
