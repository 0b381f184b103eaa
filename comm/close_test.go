package comm

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
)

// A rank fails while its other goroutines are in calls: those end with
// ErrClosed, and so do later ones.
func TestFailInUse(t *testing.T) {
	eachConfig(t, func(t *testing.T, c Config) {
		failed := errors.New("no more")
		var wg sync.WaitGroup
		errs := runErrors(t, 2, c, func(ctx context.Context, c *Comm) error {
			if c.Rank() == 1 {
				if _, err := Recv(ctx, c, []byte{0}, 0, 9); err != nil {
					return err
				}
				_, err := Recv(ctx, c, []byte{0}, 0, 9) // ends with rank 0
				return err
			}
			for _, call := range []func() error{
				func() error { _, err := Recv(ctx, c, []byte{0}, AnySource, 1); return err },
				func() error { _, err := Recv(ctx, c, []byte{0}, 1, 1); return err },
				func() error { return Send(ctx, c, make([]byte, 1<<20), 1, 2) },
				func() error {
					return WaitAll(ctx, Irecv(c, []byte{0}, 1, 1), Isend(c, make([]byte, 1<<20), 1, 2))
				},
			} {
				wg.Go(func() {
					if err := call(); !errors.Is(err, ErrClosed) {
						t.Errorf("a call in which the world was closed: %v", err)
					}
				})
			}
			unwaited := Isend(c, make([]byte, 1<<20), 1, 2)
			wg.Go(func() {
				for !peek(c.world, func(w *World) bool { return w.closed }) {
					time.Sleep(time.Millisecond)
				}
				later(ctx, t, c, unwaited)
			})
			for !peek(c.world, func(w *World) bool { return w.active == 7 }) {
				time.Sleep(time.Millisecond)
			}
			if err := Send(ctx, c, []byte{1}, 1, 9); err != nil {
				return err
			}
			return failed
		})
		wg.Wait()
		if !errors.Is(errs[0], failed) || errs[1] == nil {
			t.Error(errs)
		}
	})
}

// peek looks at a world under its lock.
func peek(w *World, f func(*World) bool) bool {
	w.eng.Lock()
	defer w.eng.Unlock()
	return f(w)
}

// later makes calls on a world that is closed, or just being closed.
func later(ctx context.Context, t *testing.T, c *Comm, unwaited Request) {
	if err := Send(ctx, c, []byte{0}, 1, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Send: %v", err)
	}
	if _, err := Isend(c, []byte{0}, 1, 1).Wait(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("Isend: %v", err)
	}
	if _, err := Recv(ctx, c, []byte{0}, AnySource, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Recv: %v", err)
	}
	if err := c.Barrier(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("Barrier: %v", err)
	}
	if _, _, err := unwaited.Test(); err != nil && !errors.Is(err, ErrClosed) {
		t.Errorf("Test: %v", err)
	}
}

// A rank fails while it reads a large message: the memory is let go of.
func TestFailWhileReading(t *testing.T) {
	eachConfig(t, func(t *testing.T, c Config) {
		failed := errors.New("no more")
		errs := runErrors(t, 2, c, func(ctx context.Context, c *Comm) error {
			buf := make([]byte, 64<<20)
			if c.Rank() == 1 {
				return Send(ctx, c, buf, 0, 1)
			}
			r := Irecv(c, buf, 1, 1)
			for !peek(c.world, func(w *World) bool { w.eng.Poll(); return w.peers[1].via.rndv.Counters().Pulls > 0 }) {
			}
			go func() {
				if _, err := r.Wait(ctx); err != nil && !errors.Is(err, ErrClosed) {
					t.Errorf("Wait: %v", err)
				}
			}()
			return failed
		})
		if !errors.Is(errs[0], failed) {
			t.Error(errs)
		}
		runtime.GC() // panics for memory that was left pinned
		runtime.GC()
	})
}
