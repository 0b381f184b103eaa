package tcp

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// secure is the TLS session of a link.
type secure struct {
	conn *tls.Conn
	wire *wire
}

// wire is what a TLS session sees of its connection. During the handshake that is a
// connection which waits, and later a descriptor which doesn't.
type wire struct {
	net.Conn        // the handshake's; nil from then on
	fd       int    // from then on
	out      []byte // what the session has sealed
	sent     int    // bytes of out that have left
	err      error  // of the socket, at an earlier write
}

// maxSeal is how much of a write is sealed at once, in bytes: it bounds what is
// unsent while the socket has no room. maxUnsent bounds what a session says by
// itself to a peer that asks and doesn't listen.
const (
	maxSeal   = 64 << 10
	maxUnsent = 1 << 20
)

var errDeaf = errors.New("tcp: the peer asks for new keys and doesn't read the answers")

// errWait is what the session hears when nothing has arrived. It takes a temporary
// error for one after which it may go on, and keeps the part of a record that it has.
var errWait net.Error = wait{}

type wait struct{}

func (wait) Error() string   { return "tcp: nothing has arrived" }
func (wait) Timeout() bool   { return true }
func (wait) Temporary() bool { return true }

func (w *wire) Read(p []byte) (int, error) {
	if w.Conn != nil {
		return w.Conn.Read(p)
	}
	n, err := readFD(w.fd, p)
	if n == 0 && err == nil && len(p) > 0 {
		return 0, errWait
	}
	return n, err
}

// Write takes everything: a session doesn't outlive a write that failed.
func (w *wire) Write(p []byte) (int, error) {
	if w.Conn != nil {
		return w.Conn.Write(p)
	}
	if w.unsent() > maxUnsent {
		return 0, errDeaf
	}
	w.out = append(w.out, p...)
	return len(p), nil
}

func (w *wire) unsent() int { return len(w.out) - w.sent }

func (w *wire) flush() error {
	if w.err != nil || w.unsent() == 0 {
		return w.err
	}
	n, err := send(w.fd, w.out[w.sent:])
	w.sent, w.err = w.sent+n, err
	if w.unsent() == 0 {
		w.out, w.sent = w.out[:0], 0
	}
	return err
}

// Close, and the deadlines, are for the session's use, which has none once the
// handshake is over.
func (w *wire) Close() error { return nil }

func (w *wire) SetDeadline(t time.Time) error     { return w.deadline(net.Conn.SetDeadline, t) }
func (w *wire) SetReadDeadline(t time.Time) error { return w.deadline(net.Conn.SetReadDeadline, t) }

func (w *wire) SetWriteDeadline(t time.Time) error { return w.deadline(net.Conn.SetWriteDeadline, t) }

func (w *wire) deadline(set func(net.Conn, time.Time) error, t time.Time) error {
	if w.Conn == nil {
		return nil
	}
	return set(w.Conn, t)
}

func (s *secure) read(p []byte) (n int, err error) {
	for n < len(p) {
		k, err := s.conn.Read(p[n:])
		n += k
		switch {
		case err == nil:
		case errors.Is(err, errWait):
			// The session may have answered something. If that can't leave the connection
			// is over, but what has come meanwhile is still to be read: the socket says
			// when that was all.
			_ = s.wire.flush()
			return n, nil
		case n > 0 && errors.Is(err, io.EOF):
			return n, io.EOF
		default:
			return n, err
		}
	}
	return n, nil
}

func (s *secure) write(p []byte) (n int, err error) {
	for n < len(p) {
		if err := s.wire.flush(); err != nil {
			return n, err
		}
		if s.wire.unsent() > 0 {
			return n, nil
		}
		k, err := s.conn.Write(p[n:min(len(p), n+maxSeal)])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, s.wire.flush()
}
