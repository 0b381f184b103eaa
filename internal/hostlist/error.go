package hostlist

import (
	"fmt"
	"strconv"
)

// Error is a list of hosts that can't be read, and where it goes wrong.
type Error struct {
	File   string // or a flag, or a variable
	Line   int    // from 1; 0: File has no lines
	Column int    // in characters, from 1; 0: the whole of it
	Text   string // what stands there
	Want   string // what was expected
}

func (e *Error) Error() string {
	at := e.File
	for _, n := range []int{e.Line, e.Column} {
		if n > 0 {
			at += ":" + strconv.Itoa(n)
		}
	}
	if e.Text == "" {
		return fmt.Sprintf("%s: expected %s", at, e.Want)
	}
	return fmt.Sprintf("%s: %q: expected %s", at, shorten(e.Text), e.Want)
}

// shorten keeps a message readable.
func shorten(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
