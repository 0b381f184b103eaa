package tcp

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// limit is how long a test waits for what should come at once.
const limit = 20 * time.Second

// end is one device's contacts, with what they took.
type end struct {
	*contacts
	links chan link
}

// accepts is an admit that takes everything.
func accepts(context.Context, want) answer { return answerOK }

// opened opens contacts that admit what admit says, over loopback unless c says more.
func opened(t testing.TB, c Config, admit func(context.Context, want) answer) *end {
	t.Helper()
	return openedIn(t, c, admit, func(f func()) { f() })
}

// openedIn is opened in a place, that of the function that runs another one there.
func openedIn(t testing.TB, c Config, admit func(context.Context, want) answer, in func(func())) *end {
	t.Helper()
	e := &end{links: make(chan link, 100)}
	var err error
	in(func() { e.contacts, err = newContacts(c, admit, func(l link) { e.links <- l }) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.close()
		close(e.links)
		for l := range e.links {
			_ = l.close()
		}
	})
	return e
}

// taken waits for the link that e accepts.
func (e *end) taken(t testing.TB) *link {
	t.Helper()
	select {
	case l := <-e.links:
		t.Cleanup(func() { _ = l.close() })
		return &l
	case <-time.After(limit):
		t.Fatal("no link is taken")
		return nil
	}
}

// dialed dials to, which must succeed.
func (e *end) dialed(t testing.TB, to *end, rail int) *link {
	t.Helper()
	l, err := e.dial(t.Context(), to.addr(), 1, 2, rail)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() })
	return &l
}

// say writes all of p, and waits for room where there is none.
func say(t *testing.T, l *link, p []byte) {
	t.Helper()
	for len(p) > 0 || l.unsent() {
		var n int
		var err error
		if len(p) > 0 {
			n, err = l.write(p)
		} else {
			err = l.flush()
		}
		if err != nil {
			t.Error(err)
			return
		}
		if p = p[n:]; (len(p) > 0 || l.unsent()) && !ready(t, l, unix.POLLOUT) {
			return
		}
	}
}

// hear reads exactly n bytes.
func hear(t *testing.T, l *link, n int) []byte {
	t.Helper()
	p := make([]byte, n)
	for have := 0; have < n; {
		k, err := l.read(p[have:])
		if err != nil {
			t.Fatalf("after %d of %d bytes: %v", have+k, n, err)
		}
		if have += k; have < n && !ready(t, l, unix.POLLIN) {
			t.Fatalf("%d of %d bytes have come", have, n)
		}
	}
	return p
}

func ready(t *testing.T, l *link, what int16) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(l.fd), Events: what}}
	for {
		n, err := unix.Poll(fds, int(limit.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n != 1 {
			t.Errorf("poll for %#x: %d, %v", what, n, err)
			return false
		}
		return true
	}
}

// Bytes of all amounts go both ways, in each family, with TLS and without.
func TestLink(t *testing.T) {
	job := secret.New()
	for _, c := range []struct {
		name string
		net  string
		tls  bool
	}{
		{"IPv4", "127.0.0.1", false},
		{"IPv6", "::1", false},
		{"by name", "lo", false},
		{"all", "", false},
		{"IPv4 TLS", "127.0.0.1", true},
		{"IPv6 TLS", "::1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.net == "::1" && !hasAddress(t, "::1") {
				t.Skip("this machine has no ::1")
			}
			cfg := Config{Secret: job, Net: c.net, TLS: c.tls}
			a, b := opened(t, cfg, accepts), opened(t, cfg, accepts)
			out := a.dialed(t, b, 0)
			in := b.taken(t)
			if out.local != 1 || out.remote != 2 || in.local != 2 || in.remote != 1 || !out.dialed || in.dialed ||
				out.peer != b.id || in.peer != a.id || (out.tls != nil) != c.tls || (in.tls != nil) != c.tls {
				t.Errorf("dialed %+v, taken %+v", *out, *in)
			}
			data := make([]byte, 3<<20)
			for i := range data {
				data[i] = byte(i * 7 >> 3)
			}
			for _, n := range []int{1, 2, 100, 16 << 10, 16<<10 + 1, 300 << 10, len(data)} {
				for _, pair := range [][2]*link{{out, in}, {in, out}} {
					done := make(chan struct{})
					go func() {
						defer close(done)
						say(t, pair[0], data[:n])
					}()
					if !bytes.Equal(hear(t, pair[1], n), data[:n]) {
						t.Errorf("%d bytes arrive changed", n)
					}
					<-done
				}
			}
			if n, err := in.read(make([]byte, 10)); n != 0 || err != nil {
				t.Errorf("read from a quiet link: %d, %v", n, err)
			}
			_ = out.close()
			ready(t, in, unix.POLLIN)
			if _, err := in.read(make([]byte, 10)); err != io.EOF {
				t.Errorf("read from a closed link: %v, expected EOF", err)
			}
		})
	}
}

// What a peer has said last is read although nothing can be written to it any more.
func TestLastWords(t *testing.T) {
	cfg := Config{Secret: secret.New(), Net: "lo", TLS: true}
	a, b := opened(t, cfg, accepts), opened(t, cfg, accepts)
	out := a.dialed(t, b, 0)
	in := b.taken(t)
	in.tls.wire.out, in.tls.wire.err = []byte("an answer of the session"), unix.ECONNRESET
	if n, err := in.read(make([]byte, 10)); n != 0 || err != nil {
		t.Fatalf("read before the last words: %d, %v", n, err)
	}
	say(t, out, []byte("goodbye"))
	if got := hear(t, in, 7); string(got) != "goodbye" {
		t.Errorf("the last words are %q", got)
	}
	if _, err := in.write([]byte("more")); err != unix.ECONNRESET {
		t.Errorf("write to a peer that is gone: %v, expected ECONNRESET", err)
	}
}

// hasAddress says whether an address is one of this machine's.
func hasAddress(t *testing.T, text string) bool {
	t.Helper()
	nics, err := systemNICs()
	if err != nil {
		t.Fatal(err)
	}
	_, err = choose(nics, text)
	return err == nil
}
