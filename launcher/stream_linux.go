package launcher

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// stream is one rank's stdout or stderr, on its way to a sink.
type stream struct {
	f     source
	who   speaker
	to    *sink
	lines lineBuffer

	// prompts: somebody at a terminal waits for what has no newline yet.
	prompts bool
	// ends is set by cut, before the deadline that makes copy look at it.
	ends atomic.Bool
	// hold keeps back what may be the trace of a crash; nil: nothing is.
	hold *hold
}

// promptDelay is how long an unfinished line may be a line being written.
const promptDelay = 50 * time.Millisecond

// copy passes everything on, until the last writer has closed the pipe or
// until cut was called.
func (s *stream) copy() {
	defer func() { _ = s.f.Close() }()
	emit := func(p []byte) { s.to.put(&s.who, p) }
	if s.hold != nil {
		emit = s.hold.around(emit)
		defer s.hold.end()
	}
	for {
		if s.prompts {
			s.wait()
		}
		n, err := s.f.Read(s.lines.room())
		s.lines.took(n, emit)
		switch {
		case err == nil:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded) && !s.ends.Load():
			s.lines.rest(emit)
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.f.drain(s.lines.room, func(n int) { s.lines.took(n, emit) })
		}
		s.lines.rest(emit)
		return
	}
}

// wait limits the next read if a prompt may be waiting.
func (s *stream) wait() {
	var until time.Time
	if s.lines.have > 0 {
		until = time.Now().Add(promptDelay)
	}
	_ = s.f.SetReadDeadline(until)
	if s.ends.Load() {
		s.cut() // was called meanwhile, and its deadline undone
	}
}

// cut ends copy once it has passed on what is in the pipe now.
func (s *stream) cut() {
	s.ends.Store(true)
	_ = s.f.SetReadDeadline(time.Unix(1, 0))
}
