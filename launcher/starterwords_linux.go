package launcher

import (
	"bufio"
	"io"
	"strings"
	"sync"
	"time"
)

// starterWords are what a starter, or the host, says on its standard error. Until
// the agent answers they may be the reason why there is none; then they are passed
// on.
type starterWords struct {
	mu    sync.Mutex
	kept  []string
	idle  func(line string) bool // it is of no interest
	print func(line string)      // nil: keep
	ended chan struct{}
}

const maxKept = 20 // lines

// read reads to the end.
func (w *starterWords) read(r io.ReadCloser) {
	defer close(w.ended)
	defer func() { _ = r.Close() }()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			w.line(line)
		}
		if err != nil {
			return
		}
	}
}

func (w *starterWords) line(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle(s) {
		return
	}
	if w.print != nil {
		w.print(s)
		return
	}
	if len(w.kept) < maxKept {
		w.kept = append(w.kept, s)
	}
}

// passOn prints what was said, and what will be.
func (w *starterWords) passOn(print func(line string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.kept {
		print(s)
	}
	w.kept, w.print = nil, print
}

// last is all that was said and not printed, for the end of a message, once the
// starter has ended.
func (w *starterWords) last() string {
	select {
	case <-w.ended:
	case <-time.After(endGrace / 4):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) == 0 {
		return ""
	}
	return ": " + strings.Join(w.kept, "; ")
}
