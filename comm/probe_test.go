package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// Each way of probing finds messages of every size, says how long they are, and
// leaves them to be received.
func TestProbe(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			ways := []func() (Status, error){
				func() (Status, error) { return c.Probe(ctx, 0, 1) },
				func() (Status, error) { return c.Probe(ctx, AnySource, AnyTag) },
				func() (Status, error) {
					for {
						s, found, err := c.Iprobe(AnySource, 1)
						if found || err != nil {
							return s, err
						}
						runtime.Gosched()
					}
				},
			}
			for i, n := range sizes {
				want := make([]byte, n)
				pattern(want, i)
				for k, probe := range ways {
					if c.Rank() == 0 {
						if err := Send(ctx, c, want, 1, 1); err != nil {
							return err
						}
						continue
					}
					for range 2 { // it stays where it is
						if s, err := probe(); err != nil || (s != Status{0, 1, int64(n)}) {
							return fmt.Errorf("%d bytes, way %d: %+v, %w", n, k, s, err)
						}
					}
					got := make([]byte, n)
					if s, err := Recv(ctx, c, got, 0, 1); err != nil || s.Bytes != int64(n) || !bytes.Equal(got, want) {
						return fmt.Errorf("%d bytes, way %d: received %+v, %w", n, k, s, err)
					}
				}
			}
			return nil
		})
	})
}

// A message that a posted receive gets is not seen by a probe.
func TestProbeAfterReceive(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		posted := Irecv(c, []int32{0}, 0, AnyTag)
		if err := SendOne(ctx, c, int32(1), 0, 1); err != nil {
			return err
		}
		if s, found, err := c.Iprobe(AnySource, AnyTag); found || err != nil {
			return fmt.Errorf("found %+v, %w", s, err)
		}
		if _, err := posted.Wait(ctx); err != nil {
			return err
		}
		if err := SendOne(ctx, c, int32(2), 0, 5); err != nil {
			return err
		}
		if s, found, err := c.Iprobe(0, 4); found || err != nil {
			return fmt.Errorf("another tag: found %+v, %w", s, err)
		}
		if s, found, err := c.Iprobe(0, 5); !found || err != nil || (s != Status{0, 5, 4}) {
			return fmt.Errorf("found %v, %+v, %w", found, s, err)
		}
		_, _, err := RecvOne[int32](ctx, c, 0, 5)
		return err
	})
}

// A million misses of each kind allocate nothing (rule 20).
func TestProbeMisses(t *testing.T) {
	misses := 1_000_000
	if testing.Short() || raceEnabled {
		misses /= 10
	}
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			_, err := Recv(ctx, c, []byte(nil), 0, 0) // parked: it doesn't allocate
			return err
		}
		if err := warmed(c); err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range misses {
			if _, found, err := c.Iprobe(1, AnyTag); found || err != nil {
				return fmt.Errorf("Iprobe: %v, %w", found, err)
			}
			if _, found, err := c.Improbe(AnySource, 3); found || err != nil {
				return fmt.Errorf("Improbe: %v, %w", found, err)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 1000 { // the runtime's own
			t.Errorf("%d allocations in %d misses", n, 2*misses)
		}
		return Send(ctx, c, []byte(nil), 1, 0)
	})
}

// warmed probes once in each form, which makes what is made once.
func warmed(c *Comm) error {
	_, _, err := c.Iprobe(1, AnyTag)
	_, _, err2 := c.Improbe(AnySource, 3)
	return errors.Join(err, err2)
}

// A blocked probe ends with its context, and with what it waits for.
func TestProbeEnds(t *testing.T) {
	errs := runErrors(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() != 0 {
			if _, err := Recv(ctx, c, []byte(nil), 0, 0); err != nil {
				return err
			}
			return errors.New("I give up")
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		var e *Error
		if _, err := c.Probe(ended, 1, 7); !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Op != "Probe" || e.Peer != 1 || e.Tag != 7 {
			t.Errorf("a context that has ended: %v", err)
		}
		if _, err := c.Mprobe(ended, 1, 7); !errors.Is(err, context.Canceled) {
			t.Errorf("Mprobe, a context that has ended: %v", err)
		}
		one, any := make(chan error, 2), make(chan error, 2)
		for peer, ends := range map[int]chan error{1: one, AnySource: any} {
			go func() { _, err := c.Probe(ctx, peer, 1); ends <- wrap("Probe", err) }()
			go func() { _, err := c.Mprobe(ctx, peer, 1); ends <- wrap("Mprobe", err) }()
		}
		waitFor(ctx, c, func(w *World) bool { return len(w.probes) == 2 && w.table.NumPosted() == 2 })
		if err := Send(ctx, c, []byte(nil), 1, 0); err != nil {
			return err
		}
		var gone *PeerError
		for range 2 {
			if err := <-one; !errors.As(err, &gone) || gone.Rank != 1 || !errors.As(err, &e) || e.Peer != 1 {
				t.Errorf("blocked for rank 1: %v", err)
			}
		}
		if _, _, err := c.Iprobe(1, 1); !errors.As(err, &gone) {
			t.Errorf("Iprobe of a rank that is gone: %v", err)
		}
		if _, _, err := c.Improbe(1, 1); !errors.As(err, &gone) {
			t.Errorf("Improbe of a rank that is gone: %v", err)
		}
		if _, found, err := c.Iprobe(2, 1); found || err != nil {
			t.Errorf("the others go on: %v, %v", found, err)
		}
		if err := Send(ctx, c, []byte(nil), 2, 0); err != nil {
			return err
		}
		for range 2 {
			if err := <-any; !errors.Is(err, errAllFinished) {
				t.Errorf("blocked for any rank: %v", err)
			}
		}
		if _, _, err := c.Iprobe(AnySource, 1); !errors.Is(err, errAllFinished) {
			t.Errorf("Iprobe of any rank, with nobody left: %v", err)
		}
		return nil
	})
	var gone *PeerError
	if errs[0] != nil && !errors.As(errs[0], &gone) { // the closing barrier may name them
		t.Error(errs[0])
	}
}

func wrap(what string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// waitFor waits until a world is in some state.
func waitFor(ctx context.Context, c *Comm, state func(*World) bool) {
	for !peek(c.World(), state) && ctx.Err() == nil {
		runtime.Gosched()
	}
}
