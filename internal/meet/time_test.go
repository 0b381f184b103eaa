package meet

import (
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// memory is a way within the process, on which nobody proves anything: for tests in
// which time passes at once.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newMemory() *memory {
	return &memory{make(chan net.Conn), make(chan struct{})}
}

func (w *memory) String() string                              { return "memory" }
func (w *memory) Listen() (net.Listener, error)               { return w, nil }
func (w *memory) Secure(c net.Conn, _ bool) (net.Conn, error) { return c, nil }
func (w *memory) Doubt(context.Context) string                { return "" }
func (w *memory) Addr() net.Addr                              { return nil }
func (w *memory) Close() error                                { close(w.closed); return nil }
func (w *memory) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		return ours, nil
	case <-w.closed:
		return nil, io.ErrClosedPipe
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *memory) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// Who says nothing, or only half a line, is sent away after ten seconds.
func TestStrangersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := newMemory()
		done := make(chan error, 1)
		go func() {
			_, err := Join(t.Context(), Config{Rank: 0, Size: 2, Timeout: time.Minute, Way: way})
			done <- err
		}()
		for _, said := range []string{"", "cmd=meet proto"} {
			c, err := way.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if said != "" {
				_, _ = io.WriteString(c, said)
			}
			start := time.Now()
			if b, err := io.ReadAll(c); err != nil || len(b) > 0 || time.Since(start) != strangerLimit {
				t.Errorf("after %q: %q, %v after %v", said, b, err, time.Since(start))
			}
			_ = c.Close()
		}
		says(t, "rank 0", <-done, "rank 1 has not come", "connections that came to nothing: 2")
	})
}

// The rank that waits least ends the waiting for all, when it has said and not before;
// and rank 0 does without a rank's word.
func TestMissingTime(t *testing.T) {
	for _, limits := range [][]time.Duration{
		{30 * time.Second, 20 * time.Second, time.Hour},
		{20 * time.Second, time.Hour, time.Hour},
		{time.Hour, time.Hour, 20 * time.Second},
		{time.Hour, time.Hour, time.Hour},
	} {
		want := 20 * time.Second
		if slices.Min(limits) == time.Hour {
			want = 50 * time.Second
		}
		synctest.Test(t, func(t *testing.T) {
			way := newMemory()
			start := time.Now()
			done := make(chan error, len(limits))
			for rank, limit := range limits {
				go func() {
					ctx := t.Context()
					if limit == time.Hour { // of which the caller has less
						soon, cancel := context.WithTimeout(ctx, 50*time.Second)
						defer cancel()
						ctx = soon
					}
					_, err := Join(ctx, Config{Rank: rank, Size: 4, Timeout: limit, Way: way})
					done <- err
				}()
			}
			for range limits {
				says(t, "a rank", <-done, "rank 3 has not come in time (3 of 4 ranks are there)")
				// A pause between tries may have been passed before rank 0 was met.
				if took := time.Since(start); took < want-time.Millisecond || took > want+time.Second {
					t.Errorf("%v: it took %v", limits, took)
				}
			}
		})
	}
}
