package tcp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// What an acceptor answers arrives at the dialer, and as a status at its owner.
func TestRefusals(t *testing.T) {
	job := secret.New()
	for _, c := range []struct {
		answer answer
		status verbs.Status
	}{
		{answerLabel, verbs.StatusRefused},
		{answerDevice, verbs.StatusRefused},
		{answerClosing, verbs.StatusPeerClosed},
	} {
		t.Run(c.answer.String(), func(t *testing.T) {
			var got want
			a := opened(t, Config{Secret: job, Net: "lo"}, accepts)
			b := opened(t, Config{Secret: job, Net: "lo"}, func(_ context.Context, w want) answer {
				got = w
				return c.answer
			})
			_, err := a.dial(t.Context(), b.addr(), 11, 22, 0)
			var no refusal
			if !errors.As(err, &no) || no.answer != c.answer || statusOf(err) != c.status {
				t.Errorf("dial: %v, status %v; expected %v, %v", err, statusOf(err), c.answer, c.status)
			}
			if w := (want{from: a.id, local: 22, remote: 11}); got != w {
				t.Errorf("the acceptor hears %+v, expected %+v", got, w)
			}
		})
	}
}

// waiting has b's owner not answer to a dial of a's, whose error is to come.
func waiting(t *testing.T, c Config) (a, b *end, failed <-chan error) {
	t.Helper()
	c.Secret = secret.New()
	asked, errs := make(chan struct{}), make(chan error, 1)
	a = opened(t, c, accepts)
	b = opened(t, c, func(ctx context.Context, _ want) answer {
		close(asked)
		<-ctx.Done()
		return answerLabel
	})
	go func() {
		_, err := a.dial(t.Context(), b.addr(), 1, 2, 0)
		errs <- err
	}()
	select {
	case <-asked:
	case <-time.After(limit):
		t.Fatal("nobody asks")
	}
	return a, b, errs
}

// A device that is closed while a peer waits for an answer says that it closes.
func TestCloseWhilePeerWaits(t *testing.T) {
	a, b, failed := waiting(t, Config{Net: "lo"})
	b.close()
	if err := <-failed; statusOf(err) != verbs.StatusPeerClosed {
		t.Errorf("dial: %v, expected that the peer closes", err)
	}
	_, err := a.dial(t.Context(), b.addr(), 1, 2, 0)
	if err == nil || !strings.Contains(err.Error(), "connection refused") || statusOf(err) != verbs.StatusRefused {
		t.Errorf("dial to a closed device: %v", err)
	}
	if n := a.rails(b.addr()); n != 1 {
		t.Errorf("%d rails on one host, expected 1", n)
	}
}

// A device that dies says nothing to those who wait for an answer.
func TestDieWhilePeerWaits(t *testing.T) {
	_, b, failed := waiting(t, Config{Net: "127.0.0.1", Timeout: 2 * time.Second})
	b.die()
	if err := <-failed; err == nil || statusOf(err) != verbs.StatusRefused || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("dial: %v, expected that nobody listens", err)
	}
}
