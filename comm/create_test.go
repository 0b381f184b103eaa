package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// Only the members of a group make its communicator, groups that overlap at once.
func TestCreate(t *testing.T) {
	run(t, 5, Config{}, func(ctx context.Context, c *Comm) error {
		parent, err := c.Split(ctx, 0, -c.Rank()) // other ranks than the world's
		if err != nil {
			return err
		}
		all := parent.Group()
		sets := [][]int{{4, 1, 0}, {0, 1, 2, 3, 4}, {2}, {1, 4}, {3, 1}, {0, 1, 4}}
		errs := make(chan error, len(sets))
		for i := range sets {
			k := (i + c.Rank()) % len(sets)
			go func() {
				errs <- func() error {
					g, err := all.Incl(sets[k]...)
					if err != nil {
						return err
					}
					in := slices.Contains(sets[k], parent.Rank())
					if !in && k%2 == 0 { // need not call it
						return nil
					}
					d, err := parent.Create(ctx, g, MaxTag-k)
					if err != nil || d == nil || !in {
						if err == nil && (d == nil) == in {
							err = fmt.Errorf("group %v: %v", sets[k], d)
						}
						return err
					}
					if got := d.Group().Compare(g); got != Ident || d.Rank() != g.Rank() {
						return fmt.Errorf("%v, rank %d: %v", sets[k], d.Rank(), got)
					}
					for range 10 {
						if err := passRound(ctx, d); err != nil {
							return fmt.Errorf("%v: %w", sets[k], err)
						}
					}
					return d.Free()
				}()
			}()
		}
		var joined error
		for range sets {
			joined = errors.Join(joined, <-errs)
		}
		return joined
	})
}

func TestCreateErrors(t *testing.T) {
	var other Group
	run(t, 1, Config{}, func(_ context.Context, c *Comm) error { other = c.Group(); return nil })
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		half, err := c.Split(ctx, c.Rank()%2, 0)
		if err != nil {
			return err
		}
		for name, v := range map[string]struct {
			in   *Comm
			g    Group
			tag  int
			want error
		}{
			"a negative tag":    {c, c.Group(), -1, ErrTag},
			"any tag":           {c, c.Group(), AnyTag, ErrTag},
			"not of the parent": {half, c.Group(), 0, ErrGroup},
			"another world's":   {c, other, 0, ErrGroup},
		} {
			d, err := v.in.Create(ctx, v.g, v.tag)
			var e *Error
			if d != nil || !errors.Is(err, v.want) || !errors.As(err, &e) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if d, err := c.Create(ctx, Group{}, 0); d != nil || err != nil {
			return fmt.Errorf("an empty group: %v, %w", d, err)
		}
		// Who names another group hears of it.
		g := c.Group()
		if c.Rank() == 2 {
			g, _ = g.Incl(0, 2, 1)
		}
		if c.Rank() != 1 {
			if _, err := c.Create(ctx, g, 1); (c.Rank() == 2) != errors.Is(err, errDiffer) {
				return err
			}
		} else if _, err := c.Create(ctx, g, 1); err != nil {
			return err
		}
		if err := half.Free(); err != nil {
			return err
		}
		if _, err := half.Create(ctx, c.Group(), 0); !errors.Is(err, ErrFreed) {
			return fmt.Errorf("of a freed one: %w", err)
		}
		if n := half.Group().Size(); n != 0 {
			return fmt.Errorf("the group of a freed one has %d ranks", n)
		}
		return nil
	})
}

func TestCompareComms(t *testing.T) {
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		turned, err := c.Split(ctx, 0, -c.Rank())
		if err != nil {
			return err
		}
		one, err := c.Split(ctx, c.Rank(), 0)
		if err != nil {
			return err
		}
		for i, v := range []struct {
			a, b *Comm
			want Comparison
		}{
			{c, c, Ident}, {c, d, Congruent}, {c, c.Hidden(), Congruent}, {d, turned, Similar}, {c, one, Unequal}, {one, one, Ident},
		} {
			if got := v.a.Compare(v.b); got != v.want {
				return fmt.Errorf("pair %d: %v, want %v", i, got, v.want)
			}
		}
		return nil
	})
}

// What Create says is apart from what the other calls say, whatever its tag.
func TestCreateBesideDup(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		var made *Comm
		create := make(chan error, 1)
		go func() {
			if c.Rank() == 0 { // when the other one waits
				if _, _, err := RecvOne[int](ctx, c, 1, 0); err != nil {
					create <- err
					return
				}
			}
			var err error
			made, err = d.Create(ctx, d.Group(), 1)
			create <- err
		}()
		w := c.World()
		for posted := 0; c.Rank() == 1 && posted == 0 && ctx.Err() == nil; runtime.Gosched() {
			w.eng.Lock()
			posted = w.table.NumPosted()
			w.eng.Unlock()
		}
		e, err := d.Dup(ctx) // the first call: 1 is its tag too
		if c.Rank() == 1 {
			err = errors.Join(err, SendOne(ctx, c, 1, 0, 0))
		}
		if err := errors.Join(err, <-create); err != nil {
			return err
		}
		return errors.Join(passRound(ctx, e), passRound(ctx, made))
	})
}
