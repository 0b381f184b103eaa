package launcher

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// sink is where streams of ranks come together: the launcher's stdout or
// stderr, or a file. Writes are whole lines, one at a time.
type sink struct {
	w     io.Writer
	page  *page
	own   speaker // the launcher
	stamp bool    // each line begins with the time
	dead  error   // of the first failed write; guarded by page.mu
}

// speaker is whose words they are.
type speaker struct {
	tag string // each line begins with it
}

// page is what sinks share that end up in the same place, as stdout and stderr
// of a terminal do.
type page struct {
	mu   sync.Mutex
	open *speaker // of the last line, if it has no newline yet
	buf  []byte
}

// newSinks makes the two of the launcher's own streams.
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
func (s *sink) put(from *speaker, p []byte) {
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
		s.page.open = nil
	}
	s.write(s.dressed(from, p))
	s.page.open = nil
	if p[len(p)-1] != '\n' {
		s.page.open = from
	}
}

// stampFormat is a line's time, as long as any other and sorted as text.
const stampFormat = "2006-01-02T15:04:05.000000 "

// dressed puts time and tag at the beginning of each line.
func (s *sink) dressed(from *speaker, p []byte) []byte {
	var head []byte
	if s.stamp {
		head = time.Now().AppendFormat(head, stampFormat)
	}
	head = append(head, from.tag...)
	if len(head) == 0 {
		return p
	}
	b := s.page.buf[:0]
	for first := true; len(p) > 0; first = false {
		if !first || s.page.open == nil {
			b = append(b, head...)
		}
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		b = append(b, p[:end]...)
		p = p[end:]
	}
	s.page.buf = b
	return b
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
	s.put(&s.own, p)
	return len(p), nil
}
