package launcher

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestSinkUnfinishedLines(t *testing.T) {
	var b bytes.Buffer
	p := &page{}
	out, errs := &sink{w: &b, page: p}, &sink{w: &b, page: p}
	out.put("a", []byte("one"))
	out.put("a", []byte(" line\ntwo"))
	out.put("b", []byte("three\n"))
	errs.put("c", []byte("four"))
	fmt.Fprintf(errs, "five\n")
	out.put("a", nil)
	out.put("a", []byte("end"))
	if got, want := b.String(), "one line\ntwo\nthree\nfour\nfive\nend"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

func TestSinkWhole(t *testing.T) {
	var b bytes.Buffer
	s := &sink{w: &b, page: &page{}}
	var wg sync.WaitGroup
	for r := range 4 {
		wg.Go(func() {
			for i := range 500 {
				fmt.Fprintf(s, "%s\n", strings.Repeat(string(rune('a'+r)), i%50+1))
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2000 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if strings.Trim(l, l[:1]) != "" {
			t.Fatalf("mixed: %q", l)
		}
	}
}

// failing takes so many bytes.
type failing struct {
	room int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	if n < len(p) {
		return n, f.err
	}
	return n, nil
}

func TestSinkFails(t *testing.T) {
	for _, c := range []struct {
		err  error
		lost bool
	}{{syscall.EPIPE, false}, {syscall.ENOSPC, true}} {
		s := &sink{w: &failing{5, c.err}, page: &page{}}
		s.put("a", []byte("123\n"))
		if s.failed() != nil {
			t.Error("failed too early")
		}
		s.put("a", []byte("567\n"))
		s.put("a", []byte("9\n"))
		if err := s.failed(); (err != nil) != c.lost || err != nil && !errors.Is(err, c.err) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
