package pmi

import (
	"net/url"
	"strings"

	"github.com/verbena-mpi/verbena/internal/ranges"
)

// EscapeText makes a sentence one word of at most n bytes, for msg= fields
// between verbrun and its own ranks. UnescapeText is its inverse, and shows
// text of other origin as it is.
func EscapeText(s string, n int) string {
	e := url.PathEscape(s)
	// PathEscape leaves '=' alone, which Parse does too: only the first counts.
	if len(e) <= n {
		return e
	}
	e = e[:n]
	if i := strings.LastIndexByte(e, '%'); i >= 0 && i > len(e)-3 {
		e = e[:i]
	}
	return e
}

// UnescapeText is the inverse of EscapeText. What it returns is printable.
func UnescapeText(s string) string {
	t, err := url.PathUnescape(s)
	if err != nil {
		t = s
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, t)
}

// Ranks is a list of ranks for people, with the verb that follows: "rank 3 has",
// "ranks 3, 5-7 have". The ranks ascend, and there is at least one.
func Ranks(list []int, singular, plural string) string {
	text := strings.ReplaceAll(ranges.Format(list), ",", ", ")
	if len(list) == 1 {
		return "rank " + text + " " + singular
	}
	return "ranks " + text + " " + plural
}
