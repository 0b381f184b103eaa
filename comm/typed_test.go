package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

type (
	celsius float64
	vector  struct{ X, Y, Z float64 }
	mixed   struct {
		N int32
		V float64
	}
	mixedToo struct {
		Count int32
		Value celsius
	}
)

// Types agree if they are made of the same in the same places; bytes agree with all.
func TestKinds(t *testing.T) {
	agree := func(a, b reflect.Type) bool {
		r := &request{typing: &typing{kind: newKind(a)}, comm: &Comm{}}
		return r.compare(0, 0, newKind(b).note, 8) == nil
	}
	groups := [][]reflect.Type{
		{
			reflect.TypeFor[float64](), reflect.TypeFor[celsius](), reflect.TypeFor[vector](), reflect.TypeFor[[3]float64](),
			reflect.TypeFor[[2]vector](), reflect.TypeFor[struct {
				A [2]float64
				B celsius
			}](),
		},
		{reflect.TypeFor[float32]()},
		{reflect.TypeFor[int]()},
		{reflect.TypeFor[int64]()},
		{reflect.TypeFor[uint64]()},
		{reflect.TypeFor[int8]()},
		{reflect.TypeFor[bool]()},
		{reflect.TypeFor[complex128]()},
		{reflect.TypeFor[mixed](), reflect.TypeFor[mixedToo](), reflect.TypeFor[[4]mixed](), reflect.TypeFor[struct{ A, B mixed }]()},
		{reflect.TypeFor[struct {
			V float64
			N int32
		}]()},
		{reflect.TypeFor[struct {
			N    int32
			_, V float32
		}]()},
		{reflect.TypeFor[padded]()},
	}
	raw := []reflect.Type{reflect.TypeFor[byte](), reflect.TypeFor[[7]byte](), reflect.TypeFor[struct{ A, B uint8 }]()}
	for i, g := range groups {
		for k, h := range groups {
			for _, a := range g {
				for _, b := range h {
					if agree(a, b) != (i == k) {
						t.Errorf("%v and %v agree: %v", a, b, i != k)
					}
				}
			}
		}
		for _, a := range g {
			for _, b := range raw {
				if !agree(a, b) || !agree(b, a) {
					t.Errorf("%v and %v don't agree", a, b)
				}
			}
		}
	}
}

// A note has the name, or the end of it; one that is damaged is read all the same.
func TestNotes(t *testing.T) {
	type averyveryveryveryveryveryveryverylongnameofatypeindeed[T any] struct{ V T }
	for _, typ := range []reflect.Type{
		reflect.TypeFor[int32](), reflect.TypeFor[mixed](), reflect.TypeFor[averyveryveryveryveryveryveryverylongnameofatypeindeed[mixed]](),
	} {
		k := newKind(typ)
		sum, name := noteSays(k.note)
		if len(k.note) != 64 || sum != k.sum || sum == 0 || len(name) > nameMost {
			t.Errorf("%v: %d bytes, %x, %q", typ, len(k.note), sum, name)
		}
		if end, cut := strings.CutPrefix(name, "…"); !strings.HasSuffix(typ.String(), end) || !cut && name != typ.String() {
			t.Errorf("%v: %q", typ, name)
		}
	}
	if _, name := noteSays(bytes.Repeat([]byte{0xff}, 64)); name == "" {
		t.Error("no name")
	}
}

// everyWay calls a test body with types compared, with another rank and with itself.
func everyWay(t *testing.T, body func(ctx context.Context, c *Comm, peer int) error) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		cfg.CheckTypes = true
		for n := 1; n <= 2; n++ {
			run(t, n, cfg, func(ctx context.Context, c *Comm) error { return body(ctx, c, n-1-c.Rank()) })
		}
	})
}

// Rule 16: a receive of another type than its message is an error, of it alone: it
// names both types, the message counts as received, its sender completes, nothing is
// written, the next message is right. At every edge of the protocols.
func TestRule16Differs(t *testing.T) {
	everyWay(t, func(ctx context.Context, c *Comm, peer int) error {
		for i, n := range []int{1, 5, 24, 25, 26, 48, 49, 2047, 2048, 2049, 50000} {
			for _, posted := range []bool{true, false} {
				if err := differs(ctx, c, peer, n, posted, i%3); err != nil {
					return fmt.Errorf("%d elements, posted first %v: %w", n, posted, err)
				}
			}
		}
		return nil
	})
}

func differs(ctx context.Context, c *Comm, peer, n int, posted bool, form int) error {
	out, in, good := make([]float64, n), make([]int64, 2*n), make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	var opts []Option
	if form == 2 {
		opts = []Option{Strided(n, 1, 2)}
	}
	var r Request
	if posted {
		r = Irecv(c, in, peer, 1, opts...)
		if err := c.Barrier(ctx); err != nil {
			return err
		}
	}
	first, second := Isend(c, out, peer, 1), Isend(c, out, peer, 1)
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	var s Status
	var err error
	switch {
	case posted:
		s, err = r.Wait(ctx)
	case form == 0:
		s, err = Recv(ctx, c, in, peer, 1)
	case form == 1:
		var m *Message
		if m, err = c.Mprobe(ctx, peer, 1); err == nil {
			s, err = RecvMessage(ctx, m, in, opts...)
		}
	default:
		_, s, err = RecvAppend(ctx, c, in[:0], peer, 1)
	}
	if !errors.Is(err, ErrType) || (s != Status{peer, 1, int64(8 * n)}) {
		return fmt.Errorf("%+v, %w", s, err)
	}
	if want := fmt.Sprintf("the element types differ: rank %d has sent %d bytes of float64 with tag 1, and this is a receive of int64", peer, 8*n); !strings.Contains(err.Error(), want) {
		return fmt.Errorf("%w, not %q", err, want)
	}
	for _, v := range in {
		if v != 0 {
			return errors.New("something was written")
		}
	}
	if s, err := Recv(ctx, c, good, peer, 1); err != nil || s.Bytes != int64(8*n) || good[n-1] != float64(n-1) {
		return fmt.Errorf("the next message: %+v, %w", s, err)
	}
	if err := WaitAll(ctx, first, second); err != nil {
		return err
	}
	return c.Barrier(ctx)
}

// Rule 16: what agrees is received, in every form, and bytes agree with everything.
func TestRule16Agrees(t *testing.T) {
	everyWay(t, func(ctx context.Context, c *Comm, peer int) error {
		for _, n := range []int{0, 1, 100, 10000} {
			vs, fs := make([]vector, n), make([]celsius, 3*n)
			for i := range vs {
				vs[i] = vector{float64(i), 1, 2}
			}
			if s, err := Sendrecv(ctx, c, vs, peer, 1, fs, peer, 1); err != nil || s.Bytes != int64(24*n) || n > 0 && fs[3*n-3] != celsius(n-1) {
				return fmt.Errorf("%d: %+v, %w", n, s, err)
			}
			for _, mode := range []Mode{Standard, Sync, Buffered, ReadyMode} {
				raw := make([]byte, 24*n)
				r := Irecv(c, raw, peer, 1)
				if err := Send(ctx, c, fs, peer, 1, mode); err != nil {
					return err
				}
				if s, err := r.Wait(ctx); err != nil || s.Bytes != int64(24*n) {
					return fmt.Errorf("%d, as bytes: %+v, %w", n, s, err)
				}
				clear(vs)
				q := Irecv(c, vs, peer, 1)
				if err := Send(ctx, c, raw, peer, 1, mode); err != nil {
					return err
				}
				if _, err := q.Wait(ctx); err != nil || n > 0 && vs[n-1] != (vector{float64(n - 1), 1, 2}) {
					return fmt.Errorf("%d, from bytes: %w", n, err)
				}
			}
			got := make([]celsius, 3*n)
			again := []Request{RecvInit(c, got, peer, 4).Start(), SendInit(c, vs, peer, 4).Start(), RecvInit(c, got, peer, 4).Start(), SendInit(c, vs, peer, 4, Sync).Start()}
			if err := WaitAll(ctx, again...); err != nil {
				return err
			}
			if _, err := SendrecvReplace(ctx, c, vs, peer, 1, peer, 1); err != nil {
				return err
			}
		}
		sent := make(chan error, 1)
		go func() { sent <- SendOne(ctx, c, 7.5, peer, 2) }()
		v, s, err := RecvOne[celsius](ctx, c, peer, 2)
		if err := errors.Join(err, <-sent); err != nil || v != 7.5 || s.Bytes != 8 {
			return fmt.Errorf("%v, %+v, %w", v, s, err)
		}
		// A message without elements has none of a wrong type.
		q := Isend(c, []int16{}, peer, 3)
		if _, err := Recv(ctx, c, make([]mixed, 1), peer, 3); err != nil {
			return err
		}
		_, err = q.Wait(ctx)
		return err
	})
}

// Ranks of which only some compare types don't become a world.
func TestRule16Settings(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	job := bootstrap.NewLocal(2, "")
	var wg sync.WaitGroup
	for rank := range 2 {
		s, err := Config{CheckTypes: rank == 1}.resolve([]string{"VERBENA_CHECK_TYPES=0"}, logrus.New())
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			_, err := newWorld(ctx, job.Job(rank), s, logrus.New())
			if !errors.Is(err, errTypesDiffer) || !strings.Contains(err.Error(), fmt.Sprintf("rank %d", 1-rank)) {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	wg.Wait()
	for text, good := range map[string]bool{"": true, "0": true, "1": true, "yes": false} {
		s, err := Config{}.resolve([]string{"VERBENA_CHECK_TYPES=" + text}, logrus.New())
		if (err == nil) != good || good && s.CheckTypes.value != (text == "1") {
			t.Errorf("%q: %v, %v", text, s.CheckTypes.value, err)
		}
	}
}
