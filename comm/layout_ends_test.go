package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Rule 12 with layouts: what is given up has had no effect, and nothing of it stays
// behind: all staging memory comes back.
func TestLayoutsGivenUp(t *testing.T) {
	pairsAndSelf(t, func(ctx context.Context, c *Comm, peer int) error {
		l := Strided(50000, 1, 2)
		out, in := make([]byte, 100000), bytes.Repeat([]byte{0xee}, 100000)
		over, cancel := context.WithCancel(ctx)
		cancel()
		for range 50 {
			s := Isend(c, out, peer, 1, l)
			s.Cancel()
			if _, err := s.Wait(ctx); !errors.Is(err, ErrCanceled) {
				return fmt.Errorf("a send: %w", err)
			}
			c.world.eng.Lock()
			pieces := len(c.world.stagings)
			c.world.eng.Unlock()
			if pieces != 1 {
				return fmt.Errorf("%d pieces of staging memory after a send", pieces)
			}
			if err := Send(over, c, out, peer, 1, l); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("a blocking send: %w", err)
			}
			r := Irecv(c, in, peer, 2, l)
			r.Cancel()
			if _, err := r.Wait(ctx); !errors.Is(err, ErrCanceled) {
				return fmt.Errorf("a receive: %w", err)
			}
			if _, err := Recv(over, c, in, peer, 2, l); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("a blocking receive: %w", err)
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if n := bytes.Count(in, []byte{0xee}); n != len(in) {
			return fmt.Errorf("%d bytes were written", len(in)-n)
		}
		w := c.world
		w.eng.Lock()
		defer w.eng.Unlock()
		if n := len(w.stagings); n != 1 { // never two in use at once
			return fmt.Errorf("%d pieces of staging memory", n)
		}
		for _, r := range w.requests {
			if r.into.places != nil || r.staged != nil {
				return fmt.Errorf("an ended %s keeps its memory", r.op)
			}
		}
		return nil
	})
}

// A receive with a layout whose sender dies is an error, and nothing was written.
func TestLayoutPeerGone(t *testing.T) {
	for r, err := range runErrors(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			if _, err := Recv(ctx, c, []byte{0}, 0, 1); err != nil {
				return err
			}
			return errors.New("I give up")
		}
		in := bytes.Repeat([]byte{0xee}, 100)
		r := Irecv(c, in, 1, 1, Strided(50, 1, 2))
		if err := Send(ctx, c, []byte{0}, 1, 1); err != nil {
			return err
		}
		_, err := r.Wait(ctx)
		var gone *PeerError
		var e *Error
		if !errors.As(err, &gone) || !errors.As(err, &e) || e.Bytes != 50 {
			return fmt.Errorf("a receive: %w", err)
		}
		if err := Send(ctx, c, make([]byte, 200000), 1, 1, Strided(100000, 1, 2)); !errors.As(err, &gone) {
			return fmt.Errorf("a send: %w", err)
		}
		if bytes.Count(in, []byte{0xee}) != len(in) {
			return errors.New("something was written")
		}
		return nil
	}) {
		var gone *PeerError
		if r == 0 && err != nil && !errors.As(err, &gone) {
			t.Error(err)
		}
	}
}

// A world may close while messages are packed: nobody touches memory that is gone.
func TestLayoutsWhileClosing(t *testing.T) {
	for range 5 {
		run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
			l := Strided(200000, 1, 2)
			buf := make([]byte, 400000)
			errs, moved, ended := make(chan error, 4), make(chan bool, 1), make(chan bool)
			var once sync.Once
			for tag := range cap(errs) {
				go func() {
					for {
						if _, err := Sendrecv(ctx, c, buf, 1-c.Rank(), tag, make([]byte, 400000), 1-c.Rank(), tag, l); err != nil {
							errs <- err
							once.Do(func() { close(ended) })
							return
						}
						select {
						case moved <- true:
						default:
						}
					}
				}()
			}
			for range 5 {
				select {
				case <-moved:
				case <-ended: // the other one has closed its world
				}
			}
			if err := c.World().Close(ctx); err != nil && !strings.Contains(err.Error(), "were not waited for") {
				return err
			}
			for range cap(errs) {
				var gone *PeerError
				if err := <-errs; !errors.Is(err, ErrClosed) && !errors.As(err, &gone) {
					return err
				}
			}
			return nil
		})
	}
}
