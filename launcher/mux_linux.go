package launcher

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/sirupsen/logrus"
)

// muxConfig: each stream has its own window, so that output which nobody reads
// keeps back nothing else. A peer that is silent for as long as patience is gone.
func muxConfig(patience time.Duration, log *logrus.Logger) *yamux.Config {
	c := yamux.DefaultConfig()
	// A ping is sent after the interval, and has the write timeout for its answer.
	c.KeepAliveInterval = patience / 4
	c.ConnectionWriteTimeout = patience - patience/4
	// Who has closed a stream may wait for ever: the other side may be a user who
	// reads page by page.
	c.StreamCloseTimeout, c.StreamOpenTimeout = 0, 0
	c.LogOutput, c.Logger = nil, muxLog{log}
	return c
}

// muxLog passes on what yamux has to say to those who want to know.
type muxLog struct{ log *logrus.Logger }

func (l muxLog) Print(v ...any)                 { l.log.Debug(v...) }
func (l muxLog) Printf(format string, v ...any) { l.log.Debugf(format, v...) }
func (l muxLog) Println(v ...any)               { l.log.Debugln(v...) }

// openStream opens a stream that begins with its head.
func openStream(s *yamux.Session, kind streamKind, id int) (*yamux.Stream, error) {
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
func acceptStream(s *yamux.Session) (st *yamux.Stream, kind streamKind, id int, err error) {
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

// drain waits for the end, as long as something comes: the agent reads the rank's
// pipe to its end, and then closes the stream.
func (s remoteStream) drain(room func() []byte, took func(n int)) {
	for {
		_ = s.SetReadDeadline(time.Now().Add(restGrace))
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
