package meet

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// knock connects as a stranger, and says something.
func (r *rig) knock(said []byte) net.Conn {
	r.t.Helper()
	c, err := r.way.tcp.Dial(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_, _ = c.Write(said)
	return c
}

// Strangers before the meeting begins and while the job runs: it neither fails nor
// waits for them.
func TestStrangers(t *testing.T) {
	r := newRig(t)
	r.way.tape = &tape{}
	ms, start, wait := r.gathering(3)
	start(0)
	start(1)
	visitors := func() {
		// The first flight of a handshake, true and cut short.
		hello := &tape{}
		c := r.knock(nil)
		_ = c.SetDeadline(time.Now().Add(patient))
		if err := tls.Client(recorded{c, hello}, secret.New().TLS(false)).Handshake(); !errors.Is(err, secret.ErrDiffers) {
			t.Errorf("a stranger's handshake: %v", err)
		}
		for _, said := range [][]byte{
			[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), bytes.Repeat([]byte{0}, 1<<16), bytes.Repeat([]byte{0xff}, 100),
			[]byte("cmd=meet protocol=1 job= rank=2 size=3 within=10000\n"), hello.bytes(), hello.bytes()[:len(hello.bytes())/2],
			r.way.tape.bytes(), // all that a true rank has said
			{22},
			// A record, and a message in it, that are as long as can be said.
			{22, 3, 1, 0xff, 0xff},
			{22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff},
		} {
			r.knock(said)
		}
	}
	visitors()
	start(2)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if len(r.way.tape.bytes()) < 500 {
		t.Error("a true rank's handshake wasn't recorded")
	}
	visitors()
	for range 20 {
		if err := each(ms, func(m *member) error { return m.Barrier(t.Context()) }); err != nil {
			t.Fatal(err)
		}
	}
	leaveAll(t, ms)
}

// Many idle connections: only so many are kept, whoever comes meanwhile is let in, and
// memory stays level.
func TestIdleStrangers(t *testing.T) {
	r := newRig(t)
	ms, start, wait := r.gathering(4)
	start(0)
	start(1)
	flood := func() (open int) {
		var all []net.Conn
		for range 1000 {
			all = append(all, r.knock([]byte{22}))
		}
		soon := time.Now().Add(200 * time.Millisecond)
		for _, c := range all {
			_ = c.SetReadDeadline(soon)
			if _, err := c.Read(make([]byte, 1)); timedOut(err) {
				open++
			}
		}
		for _, c := range all {
			_ = c.Close()
		}
		return open
	}
	if open, most := flood(), 2*len(ms)+spareRoom; open > most || open < 1 {
		t.Errorf("%d connections of strangers are open, expected at most %d", open, most)
	}
	start(2)
	start(3)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	used := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	flood()
	before := used()
	flood()
	flood()
	if after := used(); after > before+8<<20 {
		t.Errorf("%d bytes are used, and were %d before two more floods", after, before)
	}
	if err := each(ms, func(m *member) error { return m.Barrier(t.Context()) }); err != nil {
		t.Error(err)
	}
	leaveAll(t, ms)
}

func timedOut(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// Another secret on either side: neither is let in, and both say why.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	zero := make(chan error, 1)
	go func() {
		c := r.config(0, 2)
		c.Timeout = 2 * time.Second
		_, err := Join(t.Context(), c)
		zero <- err
	}()
	wrong, err := TCP("VERBENA_MEET", strings.TrimPrefix(r.way.String(), "VERBENA_MEET="), secret.New(), patient)
	if err != nil {
		t.Fatal(err)
	}
	c := r.config(1, 2)
	c.Way, c.Timeout = wrong, time.Second
	_, err = Join(t.Context(), c)
	says(t, "rank 1", err, "does not belong to this job", "does not have this job's secret")
	says(t, "rank 0", <-zero, "rank 1 has not come", "connections that came to nothing: ", "from 127.0.0.1:", "tls: bad certificate")
}

// Somebody else has the port.
func TestNotAMeeting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	l, err := r.way.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 mail.example.org ESMTP\r\n")
			_ = c.Close()
		}
	}()
	c := r.config(1, 2)
	c.Timeout = time.Second
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	_, err = Join(ctx, c)
	says(t, "rank 1", err, "not met within 1s", "does not look like a TLS handshake")
}

func TestTCPAddress(t *testing.T) {
	for address, want := range map[string]string{
		"host": "expected host:port", "": "expected host:port", ":4711": "no host", "host:0": `port "0"`, "host:x": `port "x"`,
		"host:65536": "from 1 to 65535", "::1:4711": "expected host:port", "[::1]:-1": "from 1 to 65535",
	} {
		_, err := TCP("VERBENA_MEET", address, secret.New(), patient)
		says(t, address, err, want, "VERBENA_MEET="+address)
	}
	if _, err := TCP("VERBENA_MEET", "host:4711", secret.Secret{}, patient); !errors.Is(err, secret.ErrNone) {
		t.Error(err)
	}
	w, err := TCP("VERBENA_MEET", "[::1]:4711", secret.New(), patient)
	if err != nil || w.String() != "VERBENA_MEET=[::1]:4711" {
		t.Error(w, err)
	}
}

func TestDoubt(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": "", "localhost": "", "192.0.2.77": "192.0.2.77 is 192.0.2.77, which is not an address of this host",
		"no-such-host.invalid": "no-such-host.invalid can't be resolved here",
	} {
		w, err := TCP("VERBENA_MEET", host+":4711", secret.New(), patient)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Doubt(t.Context()); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, expected %q", host, got, want)
		}
	}
}
