package launcher

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Lines don't run together, and each has one tag.
func TestSinkUnfinishedLines(t *testing.T) {
	for _, c := range []struct{ tag, want string }{
		{"", "one line\ntwo\nthree\nfour\nfive\nend"},
		{"[7] ", "[7] one line\n[7] two\n[7] three\n[7] four\nfive\n[7] end"},
	} {
		var text bytes.Buffer
		r, q, u := &speaker{tag: c.tag}, &speaker{tag: c.tag}, &speaker{tag: c.tag}
		p := &page{}
		out, errs := &sink{w: &text, page: p}, &sink{w: &text, page: p}
		out.put(r, []byte("one"))
		out.put(r, []byte(" line\ntwo"))
		out.put(q, []byte("three\n"))
		errs.put(u, []byte("four"))
		fmt.Fprintf(errs, "five\n")
		out.put(r, nil)
		out.put(r, []byte("end"))
		if got := text.String(); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

func TestSinkStamp(t *testing.T) {
	var text bytes.Buffer
	s := &sink{w: &text, page: &page{}, stamp: true}
	before := time.Now().Truncate(time.Microsecond)
	s.put(&speaker{tag: "[7] "}, []byte("a\n\nb"))
	fmt.Fprintln(s, "mine")
	var rest []string
	for line := range strings.Lines(text.String()) {
		at, text, _ := strings.Cut(line, " ")
		when, err := time.ParseInLocation(strings.TrimSpace(stampFormat), at, time.Local)
		if err != nil || when.Before(before) || when.After(time.Now()) {
			t.Errorf("%q: %v", line, err)
		}
		rest = append(rest, text)
	}
	if d := cmp.Diff([]string{"[7] a\n", "[7] \n", "[7] b\n", "mine\n"}, rest); d != "" {
		t.Error(d)
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
		r := &speaker{}
		s.put(r, []byte("123\n"))
		if s.failed() != nil {
			t.Error("failed too early")
		}
		s.put(r, []byte("567\n"))
		s.put(r, []byte("9\n"))
		if err := s.failed(); (err != nil) != c.lost || err != nil && !errors.Is(err, c.err) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
