package launcher

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		h := newHold()
		put := h.around(func(p []byte) { out.Write(p) })
		is := func(want string) {
			t.Helper()
			synctest.Wait()
			h.mu.Lock()
			defer h.mu.Unlock()
			if out.String() != want {
				t.Errorf("%q, expected %q", out.String(), want)
			}
		}
		put([]byte("a\nb\npanic: x\ny\n"))
		put([]byte("z\n"))
		is("a\nb\n")
		time.Sleep(holdLimit)
		is("a\nb\npanic: x\ny\nz\n") // no crash: it goes on
		put([]byte("c\n"))
		is("a\nb\npanic: x\ny\nz\nc\n")
		put([]byte("fatal error: 1\n"))
		h.end()
		time.Sleep(2 * holdLimit)
		is("a\nb\npanic: x\ny\nz\nc\n") // the end decides
		if h.last() != "fatal error: 1\n" {
			t.Errorf("%q", h.last())
		}
		h.drop()
		h.release()
		is("a\nb\npanic: x\ny\nz\nc\n")
	})
}

// It doesn't hold back without bounds.
func TestHoldMost(t *testing.T) {
	n := 0
	h := newHold()
	put := h.around(func(p []byte) { n += len(p) })
	put([]byte("panic: x\n"))
	put(make([]byte, holdMost))
	if n != holdMost+len("panic: x\n") {
		t.Error(n)
	}
}
