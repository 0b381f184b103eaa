package secret

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// ends is a connection within the test, with a deadline for both ends.
func ends(t *testing.T) (a, b net.Conn) {
	t.Helper()
	a, b = net.Pipe()
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	_, _ = a.SetDeadline(time.Now().Add(10*time.Second)), b.SetDeadline(time.Now().Add(10*time.Second))
	return a, b
}

// side is one end's part in a proof. Like any caller it closes its end if it fails.
func side(c io.ReadWriteCloser, f func(io.ReadWriter) error) <-chan error {
	done := make(chan error, 1)
	go func() {
		err := f(c)
		if err != nil {
			_ = c.Close()
		}
		done <- err
	}()
	return done
}

func prover(s Secret, initiator bool, context string) func(io.ReadWriter) error {
	return func(c io.ReadWriter) error { return s.Prove(c, initiator, []byte(context)) }
}

func TestProve(t *testing.T) {
	s, other := New(), New()
	differs := func(err error) bool { return errors.Is(err, ErrDiffers) }
	fine := func(err error) bool { return err == nil }
	none := func(err error) bool { return errors.Is(err, ErrNone) }
	closed := func(err error) bool { return err != nil && strings.Contains(err.Error(), "closed the connection") }
	failed := func(err error) bool { return err != nil }
	for _, c := range []struct {
		name               string
		initiator, accepts func(io.ReadWriter) error
		wantI, wantA       func(error) bool
	}{
		{"both have it", prover(s, true, "v1"), prover(s, false, "v1"), fine, fine},
		{"both have it, no context", prover(s, true, ""), prover(s, false, ""), fine, fine},
		{"initiator with another", prover(other, true, "v1"), prover(s, false, "v1"), differs, differs},
		{"acceptor with another", prover(s, true, "v1"), prover(other, false, "v1"), differs, differs},
		{"another context", prover(s, true, "v1"), prover(s, false, "v2"), differs, differs},
		{"initiator with none", prover(Secret{}, true, "v1"), prover(s, false, "v1"), none, closed},
		{"acceptor with none", prover(s, true, "v1"), prover(Secret{}, false, "v1"), failed, none},
	} {
		a, b := ends(t)
		i, r := side(a, c.initiator), side(b, c.accepts)
		if err := <-i; !c.wantI(err) {
			t.Errorf("%s: the initiator: %v", c.name, err)
		}
		if err := <-r; !c.wantA(err) {
			t.Errorf("%s: the acceptor: %v", c.name, err)
		}
	}
}

// Over a socket two initiators don't wait for each other's reads, and both fail: a
// proof is a role's.
func TestProveBothInitiators(t *testing.T) {
	s := New()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = a.Close(), b.Close() }()
	_, _ = a.SetDeadline(time.Now().Add(10*time.Second)), b.SetDeadline(time.Now().Add(10*time.Second))
	x, y := side(a, prover(s, true, "")), side(b, prover(s, true, ""))
	if err := <-x; err == nil {
		t.Error("the first took the second for an acceptor")
	}
	if err := <-y; err == nil {
		t.Error("the second took the first for an acceptor")
	}
}

// mirror says back what it hears.
type mirror struct{ bytes.Buffer }

func TestProveReflection(t *testing.T) {
	if err := New().Prove(&mirror{}, true, nil); !errors.Is(err, ErrDiffers) {
		t.Errorf("an initiator took its own proof: %v", err)
	}
	// An acceptor's messages reflected: it hears its nonce and then its own nonce.
	s := New()
	a, b := ends(t)
	done := side(b, prover(s, false, ""))
	var n [nonceSize]byte
	if _, err := a.Write(n[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(a, n[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(n[:]); err != nil {
		t.Fatal(err)
	}
	if zero, err := io.ReadAll(a); err != nil || !bytes.Equal(zero, make([]byte, macSize)) {
		t.Errorf("%x, %v", zero, err)
	}
	if err := <-done; !errors.Is(err, ErrDiffers) {
		t.Errorf("the acceptor: %v", err)
	}
}

// tape writes down what is written through it.
type tape struct {
	io.ReadWriteCloser
	said bytes.Buffer
}

func (p *tape) Write(b []byte) (int, error) {
	p.said.Write(b)
	return p.ReadWriteCloser.Write(b)
}

// What one side of a proof has said is worth nothing in another one.
func TestProveReplay(t *testing.T) {
	s := New()
	for _, replayed := range []bool{true, false} { // the initiator's part, or the acceptor's
		a, b := ends(t)
		old := &tape{ReadWriteCloser: map[bool]net.Conn{true: a, false: b}[replayed]}
		other := map[bool]net.Conn{true: b, false: a}[replayed]
		x, y := side(old, prover(s, replayed, "v")), side(other, prover(s, !replayed, "v"))
		if err := errors.Join(<-x, <-y); err != nil {
			t.Fatal(err)
		}
		c, d := ends(t)
		victim := side(c, prover(s, !replayed, "v"))
		stranger := side(d, func(d io.ReadWriter) error {
			go func() { _, _ = io.Copy(io.Discard, d) }()
			_, err := d.Write(old.said.Bytes())
			return err
		})
		if err := <-victim; !errors.Is(err, ErrDiffers) {
			t.Errorf("the initiator's part replayed: %v: %v", replayed, err)
		}
		<-stranger
	}
}

// Strangers get an error, in time, and learn nothing that depends on the secret.
func TestProveStrangers(t *testing.T) {
	s := New()
	for name, said := range map[string]string{
		"nothing":       "",
		"one byte":      "x",
		"half a nonce":  strings.Repeat("n", nonceSize/2),
		"a nonce":       strings.Repeat("n", nonceSize),
		"half a proof":  strings.Repeat("n", nonceSize+macSize/2),
		"a false proof": strings.Repeat("n", nonceSize+macSize),
		"http":          "GET / HTTP/1.1\r\nHost: rank0.example.org:4711\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
	} {
		for _, hangup := range []bool{true, false} {
			a, b := ends(t)
			_ = b.SetDeadline(time.Now().Add(300 * time.Millisecond))
			done := side(b, prover(s, false, ""))
			heard := make(chan []byte, 1)
			go func() {
				all, _ := io.ReadAll(a)
				heard <- all
			}()
			_, _ = io.WriteString(a, said)
			if hangup && len(said) < nonceSize+macSize {
				_ = a.Close()
			}
			if err := <-done; err == nil {
				t.Errorf("%s: taken", name)
			} else if !hangup && len(said) < nonceSize+macSize && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v, expected the deadline", name, err)
			}
			_ = b.Close()
			if all := <-heard; len(all) > nonceSize && !bytes.Equal(all[nonceSize:], make([]byte, macSize)) {
				t.Errorf("%s: the acceptor said %x", name, all)
			}
		}
	}
}

// lines is a peer that has said all before it hears anything.
type lines struct{ *bytes.Reader }

func (lines) Write(b []byte) (int, error) { return len(b), nil }

// Whatever a peer says without the secret, it isn't believed.
func FuzzProve(f *testing.F) {
	f.Add([]byte{}, true, []byte("v"))
	f.Add(make([]byte, nonceSize+macSize), false, []byte{})
	f.Add(bytes.Repeat([]byte{1}, 200), true, []byte{})
	f.Fuzz(func(t *testing.T, said []byte, initiator bool, context []byte) {
		if err := New().Prove(lines{bytes.NewReader(said)}, initiator, context); err == nil {
			t.Fatalf("%x proved a secret", said)
		}
	})
}
