package pmi

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line string
		want Message
	}{
		{"cmd=init pmi_version=1 pmi_subversion=1\n", Msg("init", "pmi_version", "1", "pmi_subversion", "1")},
		{"rc=0 cmd=response_to_init", Msg("response_to_init", "rc", "0")},
		{"cmd=get_result  rc=0 value=(vector,(0,1,4)) ", Msg("get_result", "rc", "0", "value", "(vector,(0,1,4))")},
		{"cmd=put key=a value=", Msg("put", "key", "a", "value", "")},
		{"cmd=put key=a value=b=c", Msg("put", "key", "a", "value", "b=c")},
		{"mcmd=spawn", Message{Cmd: "mcmd:spawn", Fields: []Field{{"mcmd", "spawn"}}}},
	} {
		got, err := Parse([]byte(c.line))
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%q: %v\n%s", c.line, err, cmp.Diff(c.want, got))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		line string
		want error
	}{
		{"", ErrMalformed},
		{"\n", ErrMalformed},
		{"garbage", ErrMalformed},
		{"cmd=", ErrMalformed},
		{"cmd=a cmd=b", ErrMalformed},
		{"cmd=a k=1 k=2", ErrMalformed},
		{"cmd=a =b", ErrMalformed},
		{"cmd=a b", ErrMalformed},
		{"cmd=a\x00b", ErrMalformed},
		{"cmd=a\nb=c", ErrMalformed},
		{"key=a", ErrMalformed},
		{"cmd=" + strings.Repeat("x", MaxLine), ErrTooLong},
	} {
		if m, err := Parse([]byte(c.line)); !errors.Is(err, c.want) {
			t.Errorf("%.40q: %v, %v; expected %v", c.line, m, err, c.want)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for _, m := range []Message{
		Msg(""), Msg("a b"), Msg("a\n"),
		Msg("a", "", "v"), Msg("a", "cmd", "v"), Msg("a", "k=", "v"), Msg("a", "k k", "v"),
		Msg("a", "k", "v v"), Msg("a", "k", "v\n"), Msg("a", "k", "1", "k", "2"),
	} {
		if b, err := m.Format(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v became %q, %v", m, b, err)
		}
	}
	if _, err := Msg("a", "k", strings.Repeat("v", MaxLine)).Format(); !errors.Is(err, ErrTooLong) {
		t.Errorf("a long line: %v", err)
	}
}

// What Format writes, Parse reads.
func TestFormatParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[!-<>-~]{1,20}`)
		m := Message{Cmd: word.Draw(t, "cmd")}
		seen := map[string]bool{"cmd": true}
		for range rapid.IntRange(0, 5).Draw(t, "fields") {
			f := Field{word.Draw(t, "key"), rapid.StringMatching(`[!-~]{0,40}`).Draw(t, "value")}
			if !seen[f.Key] {
				seen[f.Key] = true
				m.Fields = append(m.Fields, f)
			}
		}
		b, err := m.Format()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b)
		if err != nil || !cmp.Equal(got, m) {
			t.Fatalf("%q: %v\n%s", b, err, cmp.Diff(m, got))
		}
	})
}

func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ -~ä€]{0,50}`).Draw(t, "text")
		e := EscapeText(s, 1000)
		if !word(e) {
			t.Fatalf("%q is no word", e)
		}
		if got := UnescapeText(e); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
	if got := EscapeText("ab%cd", 4); got != "ab" {
		t.Errorf("cut in an escape: %q", got)
	}
	if got := UnescapeText("100%\x1b[m"); strings.ContainsRune(got, 0x1b) {
		t.Errorf("%q isn't printable", got)
	}
}
