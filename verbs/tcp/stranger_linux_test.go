package tcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// stranger connects to e and knows nothing.
func stranger(t *testing.T, e *end) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", e.at().String(), limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(limit))
	return c
}

// recorded lets a dials b through a relay, and returns what a said.
func recorded(t *testing.T, a, b *end) []byte {
	t.Helper()
	var mu sync.Mutex
	var said []byte
	relay := server(t, func(c net.Conn) {
		to, err := net.Dial("tcp", b.at().String())
		if err != nil {
			return
		}
		defer to.Close()
		go func() { _, _ = io.Copy(c, to) }()
		p := make([]byte, 1000)
		for {
			n, err := c.Read(p)
			mu.Lock()
			said = append(said, p[:n]...)
			mu.Unlock()
			if _, werr := to.Write(p[:n]); err != nil || werr != nil {
				return
			}
		}
	})
	l, err := a.search(t.Context(), b.id, relay)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.close()
	in := b.taken(t)
	_ = in.close()
	mu.Lock()
	defer mu.Unlock()
	return bytes.Clone(said)
}

// Strangers get no link, whatever they say; they are hung up on; and peers get theirs
// all the while.
func TestStrangers(t *testing.T) {
	for _, tls := range []bool{false, true} {
		job := secret.New()
		a := opened(t, Config{Secret: job, Net: "lo", TLS: tls}, accepts)
		b := opened(t, Config{Secret: job, Net: "lo", TLS: tls, Timeout: 2 * time.Second}, accepts)
		greeting := newPreamble(tls)
		replay := recorded(t, a, b)
		if len(replay) < preambleSize+idsSize+wantSize {
			t.Fatalf("only %d bytes were recorded", len(replay))
		}
		for _, c := range []struct {
			name string
			say  []byte
		}{
			{"nothing", nil},
			{"garbage", bytes.Repeat([]byte{0xa5, 7, 0}, 100_000)},
			{"zeros", make([]byte, 1<<20)},
			{"a request of the web", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
			{"the start of a handshake", greeting[:5]},
			{"a handshake without proof", append(greeting[:], bytes.Repeat([]byte{1}, 200)...)},
			{"a replayed handshake", replay},
			{"half of a replayed one", replay[:len(replay)/2]},
			{"a replayed one, and a flood", append(bytes.Clone(replay), make([]byte, 1<<20)...)},
		} {
			c := c
			t.Run(c.name, func(t *testing.T) {
				s := stranger(t, b)
				go func() { _, _ = s.Write(c.say) }()
				l := a.dialed(t, b, 0)
				_ = l.close()
				in := b.taken(t)
				if in.peer != a.id {
					t.Errorf("link from %v, expected %v", in.peer, a.id)
				}
				if _, err := io.Copy(io.Discard, s); errors.Is(err, context.DeadlineExceeded) || timedOut(err) {
					t.Errorf("nobody hangs up on a stranger: %v", err)
				}
			})
		}
		select {
		case l := <-b.links:
			t.Errorf("a stranger got a link: %+v", l)
		default:
		}
	}
}

// A thousand connections that are held open, before and after a few words: peers come
// through at once, and what is kept for strangers is bounded.
func TestManyStrangers(t *testing.T) {
	job := secret.New()
	a := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	before := runtime.NumGoroutine()
	greeting := newPreamble(false)
	for i := range 1000 {
		c := stranger(t, b)
		if i%2 == 0 {
			_, _ = c.Write(greeting[:])
		}
	}
	for range 20 {
		start := time.Now()
		l := a.dialed(t, b, 0)
		_ = l.close()
		b.taken(t)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("a peer had to wait for %v", took)
		}
	}
	if n := runtime.NumGoroutine() - before; n > defaultLimits.all+50 {
		t.Errorf("%d goroutines for strangers", n)
	}
	b.lobby.mu.Lock()
	n := len(b.lobby.guests)
	b.lobby.mu.Unlock()
	if n > defaultLimits.source {
		t.Errorf("%d guests of one source", n)
	}
}

// Strangers that come again and again, hang up or stay, with a word or without: peers
// come through, and the memory that is kept doesn't grow with their number.
func TestFlood(t *testing.T) {
	job := secret.New()
	a := opened(t, Config{Secret: job, Net: "127.0.0.1"}, accepts)
	b := opened(t, Config{Secret: job, Net: "127.0.0.1"}, accepts)
	greeting := newPreamble(false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var came atomic.Int64
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	for i := range 4 {
		flood.Go(func() {
			var held []net.Conn
			for ctx.Err() == nil {
				c, err := net.DialTimeout("tcp", b.at().String(), limit)
				if err != nil {
					continue
				}
				came.Add(1)
				switch i {
				case 0:
					_, _ = c.Write(bytes.Repeat([]byte{7}, 100))
				case 1, 2:
					_, _ = c.Write(greeting[:])
				}
				if i == 2 {
					_ = c.Close()
				} else if held = append(held, c); len(held) == 100 {
					for _, c := range held {
						_ = c.Close()
					}
					held = nil
				}
			}
			for _, c := range held {
				_ = c.Close()
			}
		})
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var first uint64
	for round := range 10 {
		start := time.Now()
		for target := came.Load() + 500; came.Load() < target && time.Since(start) < limit; {
			l := a.dialed(t, b, 0)
			_ = l.close()
			b.taken(t)
		}
		if now := heap(); round == 0 {
			first = now
		} else if now > first+16<<20 {
			t.Errorf("after %d strangers the heap has %d KiB, it had %d", came.Load(), now>>10, first>>10)
		}
	}
	t.Logf("%d strangers", came.Load())
}

// lines counts what is logged.
type lines struct {
	mu  sync.Mutex
	all []string

	warnings int
}

func (*lines) Levels() []logrus.Level { return logrus.AllLevels }

func (l *lines) Fire(e *logrus.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e.Message)
	if e.Level == logrus.WarnLevel {
		l.warnings++
	}
	return nil
}

func (l *lines) logger() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	log.SetLevel(logrus.DebugLevel)
	log.AddHook(l)
	return log
}

func (l *lines) count(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.all {
		if strings.Contains(s, part) {
			n++
		}
	}
	return n
}

// noDescriptors lets the process open none, until the function is called that it
// returns.
func noDescriptors(t *testing.T) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Error(err)
	}
	none := unix.Rlimit{Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Error(err)
	}
	return sync.OnceFunc(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Error(err)
		}
	})
}

// Without descriptors connections wait, the acceptor doesn't spin, and when there are
// some again all goes on.
func TestNoDescriptors(t *testing.T) {
	job := secret.New()
	var log lines
	a := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo", Log: log.logger()}, accepts)
	_ = a.dialed(t, b, 0) // all that the runtime opens once is open
	b.taken(t)
	idle := stranger(t, b) // whose descriptor is needed for better things
	for n := 0; n == 0; runtime.Gosched() {
		b.lobby.mu.Lock()
		n = len(b.lobby.guests)
		b.lobby.mu.Unlock()
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	restore := noDescriptors(t)
	defer restore()
	start := time.Now()
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(b.port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	for log.count("have to wait") < 3 {
		if time.Since(start) > limit {
			t.Fatal("nothing says that there are no descriptors")
		}
		runtime.Gosched()
	}
	if n, most := log.count("have to wait"), 10+int(time.Since(start)/(5*time.Millisecond)); n > most {
		t.Errorf("%d tries, expected %d at most", n, most)
	}
	_ = idle.SetDeadline(time.Now().Add(b.cfg.Timeout / 4)) // its time in the handshake is longer
	if _, err := idle.Read(make([]byte, 1)); err == nil || timedOut(err) {
		t.Errorf("a silent stranger keeps its descriptor: %v", err)
	}
	restore()
	_ = a.dialed(t, b, 0)
	b.taken(t)
}

// A peer for whose link there is no descriptor doesn't take that for a death: it dials
// again.
func TestNoDescriptorForLink(t *testing.T) {
	job := secret.New()
	var calls int
	a := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo"}, func(context.Context, want) answer {
		if calls++; calls == 1 {
			time.AfterFunc(50*time.Millisecond, noDescriptors(t))
		}
		return answerOK
	})
	_ = a.dialed(t, b, 0)
	b.taken(t)
	if calls != 2 {
		t.Errorf("the peer asked %d times, expected 2", calls)
	}
}

// A process with another setting is named in the log, once.
func TestMismatchIsLogged(t *testing.T) {
	job := secret.New()
	var log lines
	a := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo", TLS: true, Log: log.logger()}, accepts)
	for range 3 {
		if _, err := a.dial(t.Context(), b.addr(), 1, 2, 0); err == nil {
			t.Error("a link between a device with TLS and one without")
		}
	}
	b.close()
	if n := log.count("is refused: the peer does not use TLS and this process does: set VERBENA_TLS alike"); n < 4 || n > 6 { // the last ones may come too late
		t.Errorf("%d lines, expected one for each of 3 dials to 2 addresses:\n%q", n, log.all)
	}
	if log.warnings != 1 {
		t.Errorf("%d warnings, expected 1", log.warnings)
	}
}
