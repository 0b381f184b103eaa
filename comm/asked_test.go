package comm

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/match"
)

// Rule 12: where a receiver must be asked to let a long message go, and is asked while it reads,
// and then gives that up, the send that was given up ends: nobody may ever receive its message.
func TestAskedWhileRead(t *testing.T) {
	over := make(chan struct{}) // the receive has ended
	run(t, 2, Config{Devices: "tcp"}, func(ctx context.Context, c *Comm) error {
		buf := make([]byte, 64<<20)
		w := c.World()
		if c.Rank() == 1 {
			given := make(chan error)
			short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			go func() {
				_, err := Recv(short, c, buf, 0, 0)
				given <- err
			}()
			for posted := false; !posted; runtime.Gosched() {
				w.eng.Lock()
				for range w.table.Posted(func(k match.Key) bool { return k.Tag == 0 }) {
					posted = true
				}
				w.eng.Unlock()
			}
			if err := Send(ctx, c, []byte{1}, 0, 1); err != nil {
				return err
			}
			err := <-given
			close(over)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the receive ends with %v, expected that it is given up", err)
			}
			return c.Barrier(ctx)
		}
		if _, err := Recv(ctx, c, make([]byte, 1), 1, 1); err != nil {
			return err
		}
		r := Isend(c, buf, 1, 0)
		r.Cancel()
		w.eng.Lock() // so nothing of the message is served
		select {
		case <-over:
		case <-ctx.Done():
		}
		w.eng.Unlock()
		soon, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if _, err := r.Wait(soon); !errors.Is(err, ErrCanceled) {
			t.Errorf("the send ends with %v, expected that it is canceled", err)
		}
		return c.Barrier(ctx)
	})
}
