package tcp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// meeting is a handshake in progress. Its connection has a deadline.
type meeting struct {
	cfg  *Config
	id   deviceID
	conn net.Conn
	// What the rest of the handshake is said over: conn, or the session.
	over io.ReadWriter
	tls  *secure // or nil
}

func (c *Config) meet(id deviceID, conn net.Conn) *meeting {
	return &meeting{cfg: c, id: id, conn: conn, over: conn}
}

// introduce is the dialer's part up to the other's preamble.
func (m *meeting) introduce() (theirs preamble, err error) {
	mine := newPreamble(m.cfg.TLS)
	if _, err := m.conn.Write(mine[:]); err != nil {
		return theirs, err
	}
	if _, err := io.ReadFull(m.conn, theirs[:]); err != nil {
		return theirs, fmt.Errorf("it closed the connection without a word: %w", bare(err))
	}
	return theirs, mine.against(theirs)
}

// propose is the dialer's part from there to the hello: when it succeeds, to is proved
// to be at the other end.
func (m *meeting) propose(theirs preamble, to deviceID) error {
	session, err := m.secure(false)
	if err != nil {
		return err
	}
	var ids [idsSize]byte
	copy(ids[copy(ids[:], m.id[:]):], to[:])
	if _, err := m.over.Write(ids[:]); err != nil {
		return err
	}
	return m.cfg.Secret.Prove(m.over, true, proofContext(newPreamble(m.cfg.TLS), theirs, m.id, to, session))
}

// ask ends the dialer's part.
func (m *meeting) ask(w want) (answer, error) {
	hello := encodeHello(w)
	if _, err := m.over.Write(hello[:]); err != nil {
		return 0, err
	}
	var b [answerSize]byte
	if _, err := io.ReadFull(m.over, b[:]); err != nil {
		return 0, err
	}
	return decodeAnswer(b)
}

// examine is the acceptor's part up to the hello: when it succeeds, a device of this
// job is at the other end, and wants this one.
func (m *meeting) examine() (from deviceID, err error) {
	mine := newPreamble(m.cfg.TLS)
	var theirs preamble
	if _, err := io.ReadFull(m.conn, theirs[:]); err != nil {
		return from, err
	}
	bad := mine.against(theirs)
	if errors.Is(bad, errStranger) {
		return from, bad // who doesn't know the first word isn't told anything
	}
	if _, err := m.conn.Write(mine[:]); err != nil {
		return from, err
	}
	if bad != nil {
		// The answer must arrive: closing with bytes unread would take it back.
		if t, ok := m.conn.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
		_, _ = io.CopyN(io.Discard, m.conn, 4096)
		return from, bad
	}
	session, err := m.secure(true)
	if err != nil {
		return from, err
	}
	var ids [idsSize]byte
	if _, err := io.ReadFull(m.over, ids[:]); err != nil {
		return from, err
	}
	copy(from[:], ids[:])
	// The dialer's proof is about the device that it wants, and this one's about
	// itself: if they differ, each finds the other's wrong.
	return from, m.cfg.Secret.Prove(m.over, false, proofContext(theirs, mine, from, m.id, session))
}

func (m *meeting) hear() (want, error) {
	var b [wantSize]byte
	if _, err := io.ReadFull(m.over, b[:]); err != nil {
		return want{}, err
	}
	return decodeHello(b)
}

func (m *meeting) reply(a answer) error {
	b := encodeAnswer(a)
	_, err := m.over.Write(b[:])
	return err
}

// secure starts the session, if there is to be one, and returns what names it: a
// proof that is bound to that can't be passed on from another session.
func (m *meeting) secure(server bool) ([]byte, error) {
	if !m.cfg.TLS {
		return nil, nil
	}
	w := &wire{Conn: m.conn, fd: -1}
	c := tls.Client(w, m.cfg.client)
	if server {
		c = tls.Server(w, m.cfg.server)
	}
	m.tls, m.over = &secure{conn: c, wire: w}, c
	if err := m.tls.conn.Handshake(); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	state := m.tls.conn.ConnectionState()
	return state.ExportKeyingMaterial("verbena tcp proof", nil, 32)
}
