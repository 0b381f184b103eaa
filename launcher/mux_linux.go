package launcher

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/sirupsen/logrus"
)

// mux is a session over a connection. Each stream has its own window, so that output
// which nobody reads keeps back nothing else. When nothing has come for as long as
// patience the session ends.
type mux struct {
	*yamux.Session
	conn   *heard
	silent atomic.Bool // that is why it has ended
}

// heard is a connection that knows when it has last heard something.
type heard struct {
	io.ReadWriteCloser
	begin time.Time
	at    atomic.Int64 // nanoseconds since begin; written by the reader, read by watch
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadWriteCloser.Read(p)
	h.at.Store(int64(time.Since(h.begin)))
	return n, err
}

// newMux makes a session of a connection. Supervisors are clients.
func newMux(conn io.ReadWriteCloser, client bool, patience time.Duration, log *logrus.Logger) (*mux, error) {
	c := yamux.DefaultConfig()
	// Its keepalive takes a connection for dead that has much to carry, and so does
	// its limit for writing.
	c.EnableKeepAlive, c.ConnectionWriteTimeout = false, time.Hour
	// Who has closed a stream may wait for ever: the other side may be a user who
	// reads page by page.
	c.StreamCloseTimeout, c.StreamOpenTimeout = 0, 0
	c.LogOutput, c.Logger = nil, muxLog{log}
	m := &mux{conn: &heard{ReadWriteCloser: conn, begin: time.Now()}}
	open := yamux.Server
	if client {
		open = yamux.Client
	}
	var err error
	if m.Session, err = open(m.conn, c); err == nil {
		go m.watch(patience)
	}
	return m, err
}

// watch asks for a sign of life now and then, and ends a session without any.
func (m *mux) watch(patience time.Duration) {
	t := time.NewTicker(patience / 4)
	defer t.Stop()
	asking := make(chan struct{}, 1)
	for {
		select {
		case <-m.CloseChan():
			return
		case <-t.C:
		}
		if time.Since(m.conn.begin)-time.Duration(m.conn.at.Load()) > patience {
			m.silent.Store(true)
			_ = m.Close()
			return
		}
		select {
		case asking <- struct{}{}:
			go func() { // waits for the answer, which is of no interest
				_, _ = m.Ping()
				<-asking
			}()
		default:
		}
	}
}

// muxLog passes on what yamux has to say to those who want to know.
type muxLog struct{ log *logrus.Logger }

func (l muxLog) Print(v ...any)                 { l.log.Debug(v...) }
func (l muxLog) Printf(format string, v ...any) { l.log.Debugf(format, v...) }
func (l muxLog) Println(v ...any)               { l.log.Debugln(v...) }

// openStream opens a stream that begins with its head.
func openStream(s *mux, kind streamKind, id int) (*yamux.Stream, error) {
	st, err := s.OpenStream()
	if err != nil {
		return nil, err
	}
	_, err = st.Write(binary.BigEndian.AppendUint32([]byte{byte(kind)}, uint32(id)))
	return st, err
}

// headLimit is how long the head of a stream may take.
const headLimit = 10 * time.Second

// acceptStream takes a stream that openStream made.
func acceptStream(s *mux) (st *yamux.Stream, kind streamKind, id int, err error) {
	if st, err = s.AcceptStream(); err != nil {
		return nil, 0, 0, err
	}
	var head [5]byte
	_ = st.SetReadDeadline(time.Now().Add(headLimit))
	if _, err = io.ReadFull(st, head[:]); err != nil {
		return nil, 0, 0, err
	}
	_ = st.SetReadDeadline(time.Time{})
	return st, streamKind(head[0]), int(binary.BigEndian.Uint32(head[1:])), nil
}

// nested is a stream that carries a session of its own: closing it ends a read
// that waits, as with a file.
type nested struct{ *yamux.Stream }

func (n nested) Close() error {
	_ = n.SetDeadline(time.Unix(1, 0))
	return n.Stream.Close()
}

// remoteStream is a stream to a rank on another host. Its errors are those that a
// socket has.
type remoteStream struct{ *yamux.Stream }

func (s remoteStream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	return n, socketError(err)
}

func (s remoteStream) Write(p []byte) (int, error) {
	n, err := s.Stream.Write(p)
	return n, socketError(err)
}

func socketError(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, yamux.ErrTimeout):
		return os.ErrDeadlineExceeded
	}
	return fmt.Errorf("%w: %w", syscall.ECONNRESET, err)
}

// drainLimit is how long nothing may come of a stream whose end is due: agents have
// to share their cores with ranks.
const drainLimit = 10 * time.Second

// drain waits for the end, as long as something comes: the agent reads the rank's
// pipe to its end, and then closes the stream.
func (s remoteStream) drain(room func() []byte, took func(n int)) {
	for {
		_ = s.SetReadDeadline(time.Now().Add(drainLimit))
		n, err := s.Read(room())
		took(n)
		if err != nil {
			return
		}
	}
}

// remoteInput is the input of a rank on another host. A write fails once the rank
// has ended or closed it.
type remoteInput struct{ remoteStream }

func newRemoteInput(s *yamux.Stream) remoteInput {
	i := remoteInput{remoteStream{s}}
	go func() {
		_, _ = s.Read(make([]byte, 1)) // nothing ever comes but the end
		_ = s.Close()
		_ = s.SetWriteDeadline(time.Unix(1, 0))
	}()
	return i
}
