package secret

import (
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
)

// talk makes a connection and has one byte go each way.
func talk(t *testing.T, client, server *tls.Config) (clients, servers error) {
	t.Helper()
	a, b := ends(t)
	run := func(c *tls.Conn) <-chan error {
		return side(c, func(rw io.ReadWriter) error {
			if err := c.Handshake(); err != nil {
				return err
			}
			done := make(chan error, 1)
			go func() {
				_, err := rw.Write([]byte{1})
				done <- err
			}()
			var one [1]byte
			_, err := io.ReadFull(rw, one[:])
			if err != nil {
				_ = c.NetConn().Close() // or the writer waits for a reader that is gone
			}
			return errors.Join(err, <-done)
		})
	}
	x, y := run(tls.Client(a, client)), run(tls.Server(b, server))
	return <-x, <-y
}

func TestTLS(t *testing.T) {
	s, other := New(), New()
	change := func(c *tls.Config, f func(*tls.Config)) *tls.Config {
		f(c)
		return c
	}
	old := func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }
	bare := func(c *tls.Config) { c.Certificates = nil }
	trusting := func(c *tls.Config) { c.VerifyConnection = nil }
	// The right certificate, without the key that goes with it.
	thief := func(c *tls.Config) {
		_, wrong, _ := ed25519.GenerateKey(nil)
		c.Certificates[0].PrivateKey = wrong
	}
	for _, c := range []struct {
		name             string
		client, server   *tls.Config
		clients, servers string // what the errors say
	}{
		{"both have it", s.TLS(false), s.TLS(true), "", ""},
		{"the client has another", change(other.TLS(false), trusting), s.TLS(true), "remote error", "does not have this job's secret"},
		{"the server has another", s.TLS(false), change(other.TLS(true), trusting), "does not have this job's secret", "remote error"},
		{"client of TLS 1.2", change(s.TLS(false), old), s.TLS(true), "protocol version", "unsupported versions"},
		{"server of TLS 1.2", s.TLS(false), change(s.TLS(true), old), "protocol version", "unsupported versions"},
		{"client without a certificate", change(s.TLS(false), bare), s.TLS(true), "certificate required", "didn't provide a certificate"},
		{"client with a stolen certificate", change(s.TLS(false), thief), s.TLS(true), "remote error", "invalid signature"},
		{"server with a stolen certificate", s.TLS(false), change(s.TLS(true), thief), "invalid signature", "remote error"},
		{"none", Secret{}.TLS(false), Secret{}.TLS(true), "none is set", ""},
		{"client with none", Secret{}.TLS(false), s.TLS(true), "none is set", ""},
		{"server with none", s.TLS(false), Secret{}.TLS(true), "does not have this job's secret", ""},
	} {
		cerr, serr := talk(t, c.client, c.server)
		fine := c.clients == "" && c.servers == ""
		for _, side := range []struct {
			name string
			err  error
			want string
		}{{"client", cerr, c.clients}, {"server", serr, c.servers}} {
			if (side.err == nil) != fine || side.err != nil && !strings.Contains(side.err.Error(), side.want) {
				t.Errorf("%s: the %s: %v, expected %q", c.name, side.name, side.err, side.want)
			}
		}
	}
}

// The same secret gives the same key everywhere, and what it is used for elsewhere
// isn't it.
func TestTLSKey(t *testing.T) {
	s := New()
	key := func(c *tls.Config) ed25519.PrivateKey { return c.Certificates[0].PrivateKey.(ed25519.PrivateKey) }
	if !key(s.TLS(true)).Equal(key(s.TLS(false))) || key(s.TLS(true)).Equal(key(New().TLS(true))) {
		t.Error("keys of one secret differ, or of two are the same")
	}
	if string(key(s.TLS(true)).Seed()) == string(s[:]) {
		t.Error("the secret itself is the key")
	}
}
