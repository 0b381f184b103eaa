package comm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Sends that wait for room when their receiver ends say that it has ended, small
// ones and large ones, the one in the queue and the ones offered.
func TestQueuedSendsAtEnd(t *testing.T) {
	for _, size := range []int{8, 300, 100_000} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			filled := make(chan struct{})
			gaveUp := errors.New("I give up")
			errs := runErrors(t, 3, Config{Slots: 8}, func(ctx context.Context, c *Comm) error {
				switch c.Rank() {
				case 1:
					if _, err := Recv(ctx, c, []byte(nil), 0, 1); err != nil {
						return err
					}
					<-filled // without looking at what comes
					return gaveUp
				case 2:
					_, err := Recv(ctx, c, []byte(nil), 0, 2)
					return err
				}
				if err := Send(ctx, c, []byte(nil), 1, 1); err != nil {
					return err
				}
				var reqs []Request
				for range 300 {
					reqs = append(reqs, Isend(c, make([]byte, size), 1, 3))
				}
				waiting := 0
				for _, q := range reqs {
					if q.r != nil {
						waiting++
					}
				}
				if waiting < 100 {
					t.Errorf("only %d of %d sends wait", waiting, len(reqs))
				}
				close(filled)
				for i, q := range reqs {
					_, err := q.Wait(ctx)
					var gone *PeerError
					if err != nil && (!errors.As(err, &gone) || gone.Rank != 1 || !errors.Is(err, ErrFinished)) {
						t.Errorf("send %d: %v", i, err)
						break
					}
					if i == len(reqs)-1 && err == nil {
						t.Error("the last send has succeeded")
					}
				}
				return Send(ctx, c, []byte(nil), 2, 2) // others are not disturbed
			})
			var gone *PeerError
			if !errors.Is(errs[1], gaveUp) || errs[0] != nil && !errors.As(errs[0], &gone) || errs[2] != nil && !errors.As(errs[2], &gone) {
				t.Error(errs)
			}
		})
	}
}

// A rank whose sends find no room, because their receiver computes, sleeps; it
// doesn't spin.
func TestBlockedSendSleeps(t *testing.T) {
	for _, size := range []int{8, 300} {
		computed := make(chan struct{})
		run(t, 2, Config{Slots: 8}, func(ctx context.Context, c *Comm) error {
			const count = 300
			if c.Rank() == 1 {
				if _, err := Recv(ctx, c, []byte(nil), 0, 1); err != nil {
					return err
				}
				<-computed
				for range count {
					if _, err := Recv(ctx, c, make([]byte, size), 0, 2); err != nil {
						return err
					}
				}
				return nil
			}
			if err := Send(ctx, c, []byte(nil), 1, 1); err != nil {
				return err
			}
			var reqs []Request
			for range count {
				reqs = append(reqs, Isend(c, make([]byte, size), 1, 2))
			}
			done := make(chan error, 1)
			go func() { done <- WaitAll(ctx, reqs...) }()
			sleeps := c.World().Info().Counters["wait.sleeps"]
			for c.World().Info().Counters["wait.sleeps"] <= sleeps {
				select {
				case <-ctx.Done():
					t.Error("the sender does not sleep")
					close(computed)
					return ctx.Err()
				case <-time.After(time.Millisecond):
				}
			}
			close(computed)
			return <-done
		})
	}
}

// A rank that breaks the protocol is gone for this one, whatever waits for it; it
// hears of an end too; and requests that were under way can be used again.
func TestDistrust(t *testing.T) {
	errs := runErrors(t, 3, Config{Slots: 8}, func(ctx context.Context, c *Comm) error {
		switch c.Rank() {
		case 1:
			if _, err := Recv(ctx, c, []byte(nil), 0, 1); err != nil {
				return err
			}
			_, err := Recv(ctx, c, []byte{0}, 0, 99)
			var gone *PeerError
			if !errors.As(err, &gone) || gone.Rank != 0 {
				t.Errorf("the rank that is distrusted: %v", err)
			}
			return err
		case 2:
			for range 400 {
				if _, err := Recv(ctx, c, make([]byte, 100_000), 0, 2); err != nil {
					return err
				}
			}
			return nil
		}
		if err := Send(ctx, c, []byte(nil), 1, 1); err != nil {
			return err
		}
		reqs := []Request{Irecv(c, []byte{0}, 1, 5), Irecv(c, []byte{0}, 1, AnyTag)}
		for range 200 {
			reqs = append(reqs, Isend(c, make([]byte, 100_000), 1, 3))
		}
		w := c.World()
		w.eng.Lock()
		w.distrust(w.peers[1], errOrder)
		w.eng.Unlock()
		for i, q := range reqs {
			if _, err := q.Wait(ctx); !errors.Is(err, ErrProtocol) {
				t.Errorf("request %d: %v", i, err)
				break
			}
		}
		if err := Send(ctx, c, []byte{1}, 1, 3); !errors.Is(err, ErrProtocol) {
			t.Errorf("a later send: %v", err)
		}
		if i := w.Info(); !errors.Is(i.Peers[1].Lost, ErrProtocol) || i.Peers[2].Lost != nil {
			t.Errorf("%+v", i.Peers)
		}
		var again []Request
		for range 400 {
			again = append(again, Isend(c, make([]byte, 100_000), 2, 2))
		}
		return WaitAll(ctx, again...)
	})
	var gone *PeerError
	for r, err := range errs {
		if err != nil && !errors.As(err, &gone) { // the closing barrier may name one that is gone
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
