package comm

import (
	"context"
	"errors"
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
