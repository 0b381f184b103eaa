package meet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
	"github.com/verbena-mpi/verbena/internal/secret"
)

// patient is for what must not take long, on a machine that is busy.
const patient = 20 * time.Second

// rig is a job whose ranks are in the test.
type rig struct {
	t   *testing.T
	way *bound
}

// bound is a way to a port that is taken already, so that no other test gets it.
type bound struct {
	*tcp
	failed chan struct{} // gets one for each vain dial, while there is room
	tape   *tape         // of the first connection that is made, if not nil
	mu     sync.Mutex
	l      net.Listener
}

func (w *bound) Dial(ctx context.Context) (net.Conn, error) {
	c, err := w.tcp.Dial(ctx)
	if err != nil {
		select {
		case w.failed <- struct{}{}:
		default:
		}
	} else if w.tape != nil && w.tape.taken.CompareAndSwap(false, true) {
		return recorded{c, w.tape}, nil
	}
	return c, err
}

// tape is what one end of a connection has said.
type tape struct {
	taken atomic.Bool // a connection has it
	mu    sync.Mutex
	said  []byte
}

func (p *tape) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.said)
}

// recorded is a connection that writes on a tape.
type recorded struct {
	net.Conn
	*tape
}

func (c recorded) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.said = append(c.said, b...)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func (w *bound) Listen() (net.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.l == nil {
		return w.tcp.Listen()
	}
	l := w.l
	w.l = nil
	return l, nil
}

func newRig(t *testing.T) *rig { return newRigSecret(t, secret.New()) }

func newRigSecret(t *testing.T, s secret.Secret) *rig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w, err := TCP("VERBENA_MEET", l.Addr().String(), s, patient)
	if err != nil {
		t.Fatal(err)
	}
	b := &bound{tcp: w.(*tcp), l: l, failed: make(chan struct{}, 1)}
	t.Cleanup(func() {
		if b.l != nil {
			_ = b.l.Close()
		}
	})
	return &rig{t, b}
}

func (r *rig) config(rank, size int) Config {
	return Config{Rank: rank, Size: size, Timeout: patient, Way: r.way}
}

// member is a rank that has joined.
type member struct {
	*Place
	*pmi.Client
	rank int
	news chan control.Message // closed at the control connection's end
}

// join joins, and does what comm does: init, and listening.
func join(ctx context.Context, c Config) (*member, error) {
	p, err := Join(ctx, c)
	if err != nil {
		return nil, err
	}
	m := &member{Place: p, Client: pmi.NewClient(c.Rank, p.PMI), rank: c.Rank, news: make(chan control.Message, 100)}
	m.Ours = true
	go func() {
		defer close(m.news)
		if p.Control.Send(time.Second, control.Message{Kind: control.Hello, Version: control.Version}) != nil {
			return
		}
		for {
			msg, err := p.Control.Receive()
			if err != nil {
				return
			}
			m.news <- msg
		}
	}()
	return m, m.Init(ctx)
}

// leave is an orderly end.
func (m *member) leave(ctx context.Context) error {
	err := m.Finalize(ctx)
	return errors.Join(err, m.Client.Close(), m.Place.Close(ctx))
}

// die is what the end of a process does.
func (m *member) die() {
	if m.host != nil {
		m.host.shut()
	}
	_, _ = m.Client.Close(), m.Control.Close()
}

// hear waits for news.
func (m *member) hear(t *testing.T, want control.Message) {
	t.Helper()
	select {
	case got, ok := <-m.news:
		if !ok || got != want {
			t.Errorf("rank %d heard %+v, expected %+v", m.rank, got, want)
		}
	case <-time.After(patient):
		t.Errorf("rank %d heard nothing, expected %+v", m.rank, want)
	}
}

// all joins all ranks.
func (r *rig) all(size int) []*member {
	r.t.Helper()
	ms, start, wait := r.gathering(size)
	for rank := range size {
		start(rank)
	}
	if err := wait(); err != nil {
		r.t.Fatal(err)
	}
	return ms
}

// gathering is a job whose ranks join one by one: start has a rank begin, and when wait
// has returned those that were started are in ms.
func (r *rig) gathering(size int) (ms []*member, start func(rank int), wait func() error) {
	ms = make([]*member, size)
	g := new(errgroup.Group)
	start = func(rank int) {
		g.Go(func() (err error) {
			ms[rank], err = join(r.t.Context(), r.config(rank, size))
			return err
		})
	}
	return ms, start, g.Wait
}

// guest is a rank that is there, and does no more.
func (r *rig) guest(rank, size int) (net.Conn, string) {
	r.t.Helper()
	c, err := open(r.t.Context(), r.way)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(patient))
	if err := say(c, patient, hello{rank: rank, size: size, within: patient}.message()); err != nil {
		r.t.Fatal(err)
	}
	m, err := hear(bufio.NewReader(c))
	if err != nil || m.Cmd != "meet_wait" {
		r.t.Fatal(m, err)
	}
	token, _ := m.Get("token")
	return c, token
}

// each calls f as each rank at once.
func each(ms []*member, f func(*member) error) error {
	var g errgroup.Group
	for _, m := range ms {
		g.Go(func() error {
			if err := f(m); err != nil {
				return fmt.Errorf("rank %d: %w", m.rank, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func leaveAll(t *testing.T, ms []*member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	if err := each(ms, func(m *member) error { return m.leave(ctx) }); err != nil {
		t.Error(err)
	}
}

// says checks an error.
func says(t *testing.T, what string, err error, want ...string) {
	t.Helper()
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v\nexpected %q", what, err, w)
		}
	}
}
