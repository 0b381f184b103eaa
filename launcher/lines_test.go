package launcher

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the reads are, whole lines come out, in order and complete.
func TestLineBuffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(rapid.StringMatching(`([a-z]{0,30}\n?){0,20}`).Draw(t, "in"))
		l := lineBuffer{most: rapid.IntRange(1, 50).Draw(t, "most")}
		var out []byte
		emit := func(p []byte) {
			if p[len(p)-1] != '\n' && len(p) < l.most {
				t.Fatalf("a piece of %d bytes: %q", len(p), p)
			}
			out = append(out, p...)
		}
		for rest := in; len(rest) > 0; {
			n := min(len(rest), rapid.IntRange(1, 20).Draw(t, "n"))
			copy(l.room(), rest[:n])
			l.took(n, emit)
			rest = rest[n:]
		}
		l.rest(func(p []byte) { out = append(out, p...) })
		if !bytes.Equal(out, in) {
			t.Fatalf("in  %q\nout %q", in, out)
		}
	})
}

func TestLineBufferBounded(t *testing.T) {
	var l lineBuffer
	pieces, bytes := 0, 0
	emit := func(p []byte) { pieces, bytes = pieces+1, bytes+len(p) }
	for range 5 * maxLine / 1000 {
		room := l.room()
		n := min(len(room), 1000)
		for i := range n {
			room[i] = 'x'
		}
		l.took(n, emit)
	}
	if len(l.buf) > maxLine+32<<10 || pieces < 4 || pieces > 5 {
		t.Errorf("%d pieces, %d bytes, buffer of %d", pieces, bytes, len(l.buf))
	}
}
