package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// A communicator that was freed is an error, and so is one too many.
func TestFree(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		r := Irecv(d, []byte{0}, 0, 0)
		if err := SendOne(ctx, d, byte(1), 0, 0); err != nil {
			return err
		}
		if err := d.Free(); err != nil {
			return err
		}
		if _, err := r.Wait(ctx); err != nil {
			t.Errorf("what was in flight: %v", err)
		}
		_, recv := Recv(ctx, d, []byte{0}, AnySource, AnyTag)
		_, isend := Isend(d, []byte{0}, ProcNull, 0).Wait(ctx)
		_, _, iprobe := d.Iprobe(0, 0)
		_, dup := d.Dup(ctx)
		_, split := d.Split(ctx, 0, 0)
		_, shared := d.SplitShared(ctx, 0)
		for i, err := range []error{Send(ctx, d, []byte{0}, 0, 0), recv, isend, iprobe, dup, split, shared, d.Barrier(ctx), d.Free()} {
			var e *Error
			if !errors.Is(err, ErrFreed) || !errors.As(err, &e) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if err := c.Free(); !errors.Is(err, errNotMade) {
			t.Errorf("freeing the world's: %v", err)
		}
		if err := c.Hidden().Free(); !errors.Is(err, errNotMade) {
			t.Errorf("freeing a twin: %v", err)
		}
		c.World().contexts = hidden
		if _, err := c.Dup(ctx); !errors.Is(err, errContexts) {
			t.Errorf("when all are used up: %v", err)
		}
		if _, err := c.Split(ctx, 0, 0); !errors.Is(err, errContexts) {
			t.Errorf("when all are used up: %v", err)
		}
		return nil
	})
}

// Messages that nobody has received are released when their communicator is freed,
// and those that come later; what waits for its receiver fails, what a posted receive
// or a matched probe has taken arrives, and a successor sees nothing.
func TestFreeReleases(t *testing.T) {
	const each = 20
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			d, err := c.Dup(ctx)
			if err != nil {
				return err
			}
			w, size := c.World(), 100_000
			send := func(to int) (all []Request) {
				for i := range each {
					all = append(all, Isend(d, make([]byte, 8), to, i), Isend(d.Hidden(), make([]byte, 300), to, i), Isend(d, make([]byte, size), to, i))
				}
				return all
			}
			waitAll := func(all []Request) error {
				for i, q := range all {
					_, err := q.Wait(ctx)
					switch long := i%3 == 2; {
					case long && !errors.Is(err, ErrFreed), !long && err != nil && !errors.Is(err, ErrFreed):
						return fmt.Errorf("send %d: %w", i, err)
					}
				}
				return nil
			}
			if c.Rank() == 1 {
				kept := Isend(d, []byte{42}, 0, 1000)
				posted := Isend(d, make([]byte, size), 0, 1001)
				all := send(0) // before the other one's Free, and after it
				if err := SendOne(ctx, c, 1, 0, 0); err != nil {
					return err
				}
				if _, _, err := RecvOne[int](ctx, c, 0, 0); err != nil {
					return err
				}
				all = append(all, send(0)...)
				if err := SendOne(ctx, c, 1, 0, 0); err != nil {
					return err
				}
				return errors.Join(waitAll(all), WaitAll(ctx, kept, posted), d.Free())
			}
			m, err := d.Mprobe(ctx, 1, 1000)
			if err != nil {
				return err
			}
			long := make([]byte, size)
			r := Irecv(d, long, 1, 1001)
			self := send(0)
			if _, _, err := RecvOne[int](ctx, c, 1, 0); err != nil {
				return err
			}
			if err := d.Free(); err != nil {
				return err
			}
			if err := waitAll(self); err != nil {
				return err
			}
			if err := SendOne(ctx, c, 1, 1, 0); err != nil {
				return err
			}
			if _, _, err := RecvOne[int](ctx, c, 1, 0); err != nil {
				return err
			}
			b := []byte{0}
			if s, err := RecvMessage(ctx, m, b); err != nil || b[0] != 42 || s.Source != 1 {
				return fmt.Errorf("what was probed: %+v, %d, %w", s, b[0], err)
			}
			if s, err := r.Wait(ctx); err != nil || s.Source != 1 {
				return fmt.Errorf("what was posted: %+v, %w", s, err)
			}
			w.eng.Lock()
			waiting, closing := 0, 0
			for u := range w.table.Unexpected(nil) {
				if waiting++; u.msg.Key().Context == closeContext { // the other one is in Close
					waiting, closing = waiting-1, 1
				}
			}
			bytes, charged := w.unexpectedBytes, w.peers[1].account.messages-closing
			w.eng.Unlock()
			if n := w.Info().Counters["unexpected.dropped"]; waiting != 0 || bytes != 0 || charged != 0 || n != 9*each {
				return fmt.Errorf("%d messages wait, with %d bytes, %d charged; %d were released", waiting, bytes, charged, n)
			}
			return nil
		})
	})
}

// Rule 20: many communicators are made and freed, with a message on each that is
// received and one that is not, and memory stays level.
func TestFreeMany(t *testing.T) {
	count := 100_000
	if testing.Short() || raceEnabled {
		count /= 20
	}
	var before, after runtime.MemStats
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		buf := make([]byte, 64)
		for i := range count {
			d, err := c.Split(ctx, 0, i%3*c.Rank())
			if err != nil {
				return err
			}
			if err := Send(ctx, d, buf, 1-d.Rank(), 1); err != nil {
				return err
			}
			if err := Send(ctx, d, buf, 1-d.Rank(), 2); err != nil {
				return err
			}
			if _, err := Recv(ctx, d, buf, AnySource, 1); err != nil {
				return err
			}
			if err := d.Free(); err != nil {
				return err
			}
			if i == count/10 && c.Rank() == 0 {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
		}
		if c.Rank() != 0 {
			return nil
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		n := c.World().Info().Counters["unexpected.dropped"]
		if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 1<<20 || n < uint64(count)-1 {
			t.Errorf("%d more bytes after %d communicators; %d messages were released", more, count, n)
		}
		t.Logf("%d B, then %d B", before.HeapAlloc, after.HeapAlloc)
		return nil
	})
}
