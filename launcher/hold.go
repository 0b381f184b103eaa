package launcher

import (
	"bytes"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/internal/gostack"
)

// holdLimit is how long, and holdMost how much, of a rank's standard error is
// held back because it may be the trace of a crash. The process ends soon if it
// is one.
const (
	holdLimit = 500 * time.Millisecond
	holdMost  = 1 << 20
)

// hold keeps back what a rank writes from a line on that looks like the first of
// a crash. When all ranks of a program run into the same mistake, one trace is
// shown and the others are not: that can be decided when the ranks have gone. What
// turns out to be no crash, or takes too long, is passed on after all.
type hold struct {
	mu    sync.Mutex
	emit  func([]byte)  // passes on
	text  []byte        // since the line that looks like a crash
	held  bool          // text was not passed on yet
	ended chan struct{} // closed when nothing more comes
	limit *time.Timer
}

func newHold() *hold { return &hold{ended: make(chan struct{})} }

// around returns an emit that goes through the hold.
func (h *hold) around(emit func([]byte)) func([]byte) {
	h.emit = emit
	return h.put
}

// put takes whole lines.
func (h *hold) put(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.text = append(h.text, p...)
		if len(h.text) > holdMost {
			h.pass()
		}
		return
	}
	i := crashStart(p)
	h.emit(p[:i])
	if i == len(p) {
		return
	}
	h.text, h.held = append([]byte{}, p[i:]...), true
	h.limit = time.AfterFunc(holdLimit, func() {
		select {
		case <-h.ended:
		default:
			h.release()
		}
	})
}

// pass passes on what is held. The lock is held.
func (h *hold) pass() {
	if h.held {
		h.held = false
		h.limit.Stop()
		h.emit(h.text)
	}
}

// end says that nothing more comes: what is held waits for release or drop.
func (h *hold) end() { close(h.ended) }

// release passes on what is held, if anything is. It says whether the text was
// passed on, now or before.
func (h *hold) release() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pass()
	return len(h.text) > 0
}

// drop forgets what is held.
func (h *hold) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.held = false
		h.limit.Stop()
	}
}

// last is the text from the last line on that looked like a crash.
func (h *hold) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

// crashStart is where the first line begins that looks like a crash, or the end.
func crashStart(p []byte) int {
	for i := 0; i < len(p); {
		n := bytes.IndexByte(p[i:], '\n') + 1
		if n == 0 {
			n = len(p) - i
		}
		if gostack.Begins(string(p[i : i+min(n, 80)])) {
			return i
		}
		i += n
	}
	return len(p)
}
