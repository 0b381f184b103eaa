package tcp

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// script is a connection whose other end has said all that it will ever say.
type script struct {
	net.Conn
	in  *bytes.Reader
	out int
}

func (s *script) Read(p []byte) (int, error) { return s.in.Read(p) }

func (s *script) Write(p []byte) (int, error) {
	s.out += len(p)
	return len(p), nil
}

func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
func (s *script) Close() error                     { return nil }

// Who doesn't have the secret gets through no handshake, on either side, and is
// answered with a few bytes at most; nor is more read of what he says than a handshake
// has.
func FuzzHandshake(f *testing.F) {
	plain, crypted := newPreamble(false), newPreamble(true)
	for _, b := range [][]byte{nil, plain[:], crypted[:], append(plain[:], make([]byte, 300)...), append(crypted[:], 22, 3, 1, 0, 5, 1, 0, 0, 1, 3)} {
		f.Add(b, false, false)
		f.Add(b, true, false)
		f.Add(b, false, true)
		f.Add(b, true, true)
	}
	job := secret.New()
	f.Fuzz(func(t *testing.T, said []byte, dial, tls bool) {
		cfg, err := Config{Secret: job, TLS: tls}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		c := &script{in: bytes.NewReader(said)}
		m := cfg.meet(deviceID{1}, c)
		if dial {
			var theirs preamble
			if theirs, err = m.introduce(); err == nil {
				err = m.propose(theirs, deviceID{2})
			}
		} else {
			_, err = m.examine()
		}
		if err == nil {
			t.Errorf("a handshake succeeds with %x", said)
		}
		if c.out > 8<<10 {
			t.Errorf("%d bytes are said to a stranger", c.out)
		}
		if read := len(said) - c.in.Len(); !tls && read > 8<<10 {
			t.Errorf("%d bytes of a stranger are read", read)
		}
	})
}

// Peers can say anything, too.
func FuzzHello(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})
	f.Add([]byte{0: 255, 11: 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &meeting{over: &script{in: bytes.NewReader(b)}}
		w, err := m.hear()
		if err == nil {
			if again := encodeHello(w); !bytes.Equal(again[:], b[:wantSize]) || w.rail >= maxRails {
				t.Errorf("%x is read as %+v", b, w)
			}
		} else if len(b) < wantSize && err != io.EOF && err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", len(b), err)
		}
		m = &meeting{over: &script{in: bytes.NewReader(b)}}
		a, err := m.ask(want{})
		if err == nil {
			if again := encodeAnswer(a); !bytes.Equal(again[:], b[:answerSize]) || a == 0 || a > lastAnswer {
				t.Errorf("%x is read as %v", b, a)
			}
		}
	})
}

// A proof is bound to all that the two must agree on.
func TestProofContext(t *testing.T) {
	plain, crypted := newPreamble(false), newPreamble(true)
	seen := map[string]string{}
	for name, b := range map[string][]byte{
		"the usual":                   proofContext(plain, plain, deviceID{1}, deviceID{2}, nil),
		"another dialer's words":      proofContext(crypted, plain, deviceID{1}, deviceID{2}, nil),
		"other words of the acceptor": proofContext(plain, crypted, deviceID{1}, deviceID{2}, nil),
		"another dialer":              proofContext(plain, plain, deviceID{3}, deviceID{2}, nil),
		"another acceptor":            proofContext(plain, plain, deviceID{1}, deviceID{3}, nil),
		"roles exchanged":             proofContext(plain, plain, deviceID{2}, deviceID{1}, nil),
		"a session":                   proofContext(plain, plain, deviceID{1}, deviceID{2}, []byte{1}),
	} {
		if other, ok := seen[string(b)]; ok {
			t.Errorf("%s is as good as %s", name, other)
		}
		seen[string(b)] = name
	}
}
