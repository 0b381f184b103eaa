package pmi

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine-1)
	text := "a\n\nbc\n" + long + "\nend\n"
	for name, r := range map[string]io.Reader{
		"whole":  strings.NewReader(text),
		"half":   iotest.HalfReader(strings.NewReader(text)),
		"single": iotest.OneByteReader(strings.NewReader(text)),
		"eof":    iotest.DataErrReader(strings.NewReader(text)),
	} {
		l := newLineReader(r)
		for _, want := range []string{"a", "", "bc", long, "end"} {
			if got, err := l.next(); err != nil || string(got) != want {
				t.Fatalf("%s: %.20q, %v; expected %.20q", name, got, err, want)
			}
		}
		if _, err := l.next(); err != io.EOF {
			t.Errorf("%s: %v at the end", name, err)
		}
	}
}

func TestLinesTooLong(t *testing.T) {
	l := newLineReader(bytes.NewReader(bytes.Repeat([]byte("x"), MaxLine+1)))
	if _, err := l.next(); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

func TestLinesUnfinished(t *testing.T) {
	l := newLineReader(strings.NewReader("cmd=ini"))
	if _, err := l.next(); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "cmd=ini") {
		t.Error(err)
	}
}
