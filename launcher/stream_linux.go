package launcher

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stream is one rank's stdout or stderr, on its way to a sink.
type stream struct {
	f     *os.File
	lines lineBuffer
}

// copy passes everything on, until the last writer has closed the pipe or
// until cut was called.
func (s *stream) copy(to *sink) {
	defer func() { _ = s.f.Close() }()
	emit := func(p []byte) { to.put(s, p) }
	for {
		n, err := s.f.Read(s.lines.room())
		s.lines.took(n, emit)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.drain(emit)
			break
		}
		if err != nil {
			break
		}
	}
	s.lines.rest(emit)
}

// cut ends copy once it has passed on what is in the pipe now.
func (s *stream) cut() { _ = s.f.SetReadDeadline(time.Unix(1, 0)) }

// drain reads what is there, and at most as much as a pipe can hold: somebody
// may still be writing.
func (s *stream) drain(emit func([]byte)) {
	raw, err := s.f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		for left := 1 << 20; left > 0; {
			n, err := unix.Read(int(fd), s.lines.room())
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 || err != nil {
				return
			}
			s.lines.took(n, emit)
			left -= n
		}
	})
}
