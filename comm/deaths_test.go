package comm

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
)

// A death that nobody waited for is reported by the next receive or probe from any
// source, once per communicator.
func TestUnheardDeath(t *testing.T) {
	var gone *PeerError
	errs := runErrors(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		second, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		third, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		switch c.Rank() {
		case 1:
			_, err := Recv(ctx, c, []byte{0}, 0, 99) // until it is distrusted
			return err
		case 2:
			if _, err := Recv(ctx, c, []byte(nil), 0, 1); err != nil {
				return err
			}
			for _, d := range []*Comm{c, second, third} {
				if err := Send(ctx, d, []byte{1}, 0, 2); err != nil {
					return err
				}
			}
			return nil
		}
		w := c.World()
		w.eng.Lock()
		w.distrust(w.peers[1], errOrder)
		w.eng.Unlock()
		if _, err := Recv(ctx, c, []byte{0}, AnySource, 2); !errors.As(err, &gone) || gone.Rank != 1 {
			t.Errorf("a receive: %v", err)
		}
		if _, _, err := second.Iprobe(AnySource, AnyTag); !errors.As(err, &gone) || gone.Rank != 1 {
			t.Errorf("Iprobe: %v", err)
		}
		if _, err := third.Probe(ctx, AnySource, AnyTag); !errors.As(err, &gone) || gone.Rank != 1 {
			t.Errorf("Probe: %v", err)
		}
		if err := Send(ctx, c, []byte(nil), 2, 1); err != nil {
			return err
		}
		for _, d := range []*Comm{c, second, third} {
			if s, err := Recv(ctx, d, []byte{0}, AnySource, 2); err != nil || s.Source != 2 {
				t.Errorf("from one that lives: %+v, %v", s, err)
			}
		}
		return nil
	})
	for r, err := range errs {
		if err != nil && !errors.As(err, &gone) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// A death is an error on the communicators that the rank was in, by its rank there, and
// no other one is disturbed: not a part without it, not a rank by itself.
func TestDeathInPart(t *testing.T) {
	died := func(err error) bool {
		var gone *PeerError
		return errors.As(err, &gone) && gone.Rank == 1
	}
	errs := runErrors(t, 4, Config{}, func(ctx context.Context, c *Comm) error {
		pair, err := c.Split(ctx, c.Rank()/2, -c.Rank()) // 1 and 0; 3 and 2
		if err != nil {
			return err
		}
		all, err := c.Split(ctx, 0, -c.Rank()) // 3, 2, 1, 0
		if err != nil {
			return err
		}
		one, err := c.Split(ctx, c.Rank(), 0)
		if err != nil {
			return err
		}
		w, b := c.World(), []byte{0}
		distrust := func() {
			w.eng.Lock()
			w.distrust(w.peers[1], errOrder)
			w.eng.Unlock()
		}
		switch c.Rank() {
		case 1:
			// Until both distrust it: one that had ended before would have finished.
			_, err := Recv(ctx, c, b, 0, 99)
			_, also := Recv(ctx, c, b, 2, 99)
			return errors.Join(err, also)
		case 3:
			if _, err := Recv(ctx, pair, b, 1, 1); err != nil {
				return err
			}
			return errors.Join(Send(ctx, pair, b, 1, 2), Send(ctx, pair, b, 1, 7))
		case 0:
			r := Irecv(pair, b, AnySource, AnyTag)
			distrust()
			var e *Error
			if _, err := r.Wait(ctx); !died(err) {
				t.Errorf("a receive from any source: %v", err)
			}
			if _, err := Recv(ctx, pair, b, 0, 0); !died(err) || !errors.As(err, &e) || e.Peer != 0 || e.Rank != 1 {
				t.Errorf("a receive from it: %v", err)
			}
			if _, err := Recv(ctx, pair, b, AnySource, AnyTag); !errors.Is(err, errAllFinished) {
				t.Errorf("a receive from any source, of which none is left: %v", err)
			}
			if _, err := all.Probe(ctx, AnySource, AnyTag); !died(err) {
				t.Errorf("a probe on another communicator with it: %v", err)
			}
			if f, g := pair.Failed(), all.Failed(); !slices.Equal(f, []int{0}) || !slices.Equal(g, []int{2}) {
				t.Errorf("%v and %v have failed", f, g)
			}
			return nil
		}
		probed := make(chan error, 1)
		recv, wide, self := Irecv(pair, []byte{0}, AnySource, 2), Irecv(all, []byte{0}, AnySource, AnyTag), Irecv(one, []byte{0}, AnySource, AnyTag)
		go func() { _, err := pair.Probe(ctx, AnySource, 7); probed <- err }()
		for waits := 0; waits == 0 && ctx.Err() == nil; runtime.Gosched() {
			w.eng.Lock()
			waits = len(w.probes)
			w.eng.Unlock()
		}
		distrust()
		if _, err := wide.Wait(ctx); !died(err) {
			t.Errorf("a receive from any source: %v", err)
		}
		for name, r := range map[string]Request{"in a part without it": recv, "of itself alone": self} {
			if _, done, err := r.Test(); done {
				t.Errorf("a receive %s: %v", name, err)
			}
		}
		if _, found, err := pair.Iprobe(AnySource, 50); found || err != nil {
			t.Errorf("a later probe in a part without it: %v, %v", found, err)
		}
		if f, g := pair.Failed(), all.Failed(); f != nil || !slices.Equal(g, []int{2}) {
			t.Errorf("%v and %v have failed", f, g)
		}
		if err := errors.Join(Send(ctx, one, b, 0, 0), Send(ctx, pair, b, 0, 1), WaitAll(ctx, recv, self), <-probed); err != nil {
			return err
		}
		if s, err := Recv(ctx, pair, b, AnySource, AnyTag); err != nil || s.Source != 0 || s.Tag != 7 {
			t.Errorf("afterwards: %+v, %v", s, err)
		}
		return nil
	})
	var gone *PeerError
	for r, err := range errs {
		if err != nil && !errors.As(err, &gone) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
