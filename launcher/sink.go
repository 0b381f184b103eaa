package launcher

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// sink is where the streams of all ranks come together: the launcher's stdout
// or stderr. Writes are whole lines, one at a time.
type sink struct {
	w    io.Writer
	page *page
	dead error // of the first failed write; guarded by page.mu
}

// page is what sinks share that end up in the same place, as stdout and stderr
// of a terminal do.
type page struct {
	mu   sync.Mutex
	open any // who wrote the last line, if it has no newline yet
}

// newSinks makes the two.
func newSinks(out, errs *os.File) (*sink, *sink) {
	p := &page{}
	q := p
	a, err1 := out.Stat()
	b, err2 := errs.Stat()
	if err1 == nil && err2 == nil && !os.SameFile(a, b) {
		q = &page{}
	}
	return &sink{w: out, page: p}, &sink{w: errs, page: q}
}

// put writes lines of one stream. If its last line has no end, the next stream
// to write starts a new one. Once a write has failed, as when the reader has
// gone, output is dropped: the ranks go on computing.
func (s *sink) put(from any, p []byte) {
	if len(p) == 0 {
		return
	}
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	if s.dead != nil {
		return
	}
	if s.page.open != nil && s.page.open != from {
		s.write([]byte("\n"))
	}
	s.write(p)
	s.page.open = nil
	if p[len(p)-1] != '\n' {
		s.page.open = from
	}
}

func (s *sink) write(p []byte) {
	for s.dead == nil && len(p) > 0 {
		n, err := s.w.Write(p)
		p = p[max(n, 0):]
		if err != nil && !tryAgain(s.w, err) {
			s.dead = err
		}
	}
}

// failed says whether output was lost, though somebody was there to read it.
func (s *sink) failed() error {
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	if errors.Is(s.dead, syscall.EPIPE) {
		return nil
	}
	return s.dead
}

// Write puts whole lines of the launcher's own.
func (s *sink) Write(p []byte) (int, error) {
	s.put(s, p)
	return len(p), nil
}
