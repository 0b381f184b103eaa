package hostlist

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// word is a piece of a line, and the column in which it begins.
type word struct {
	text   string
	column int
}

// entry is a host as it is named once.
type entry struct {
	Host
	not bool // ^host
}

// parseHost reads "user@name:N" or "^name". The error has no file and no line yet.
func parseHost(w word) (entry, *Error) {
	var e entry
	rest := w
	if name, ok := strings.CutPrefix(rest.text, "^"); ok {
		e.not, rest = true, rest.after(len(rest.text)-len(name))
	}
	if i := strings.LastIndexByte(rest.text, '@'); i >= 0 {
		e.User = rest.text[:i]
		if !goodUser(e.User) {
			return e, &Error{Column: rest.column, Text: e.User, Want: "a user's name before @"}
		}
		rest = rest.after(i + 1)
	}
	name, slots, err := splitSlots(rest)
	if err != nil {
		return e, err
	}
	e.Name = name
	if slots == nil {
		return e, nil
	}
	if e.not {
		return e, &Error{Column: slots.column, Text: slots.text, Want: "no number of slots: ^ leaves a host out"}
	}
	e.Slots, err = number(*slots, "a number of slots", MaxSlots)
	return e, err
}

// splitSlots divides "name:N", "[address]:N", "name" and "address".
func splitSlots(w word) (name string, slots *word, err *Error) {
	if inner, ok := strings.CutPrefix(w.text, "["); ok {
		name, tail, closed := strings.Cut(inner, "]")
		if !closed || !isIPv6(name) {
			return "", nil, &Error{Column: w.column, Text: w.text, Want: "an IPv6 address in brackets"}
		}
		if tail == "" {
			return name, nil, nil
		}
		after := w.after(len(w.text) - len(tail))
		if tail[0] != ':' {
			return "", nil, &Error{Column: after.column, Text: tail, Want: ":N after the address, or nothing"}
		}
		after = after.after(1)
		return name, &after, nil
	}
	if isIPv6(w.text) {
		return w.text, nil, nil
	}
	name, tail, has := strings.Cut(w.text, ":")
	if !goodName(name) {
		return "", nil, &Error{Column: w.column, Text: w.text, Want: "a host's name or address"}
	}
	if !has {
		return name, nil, nil
	}
	after := w.after(len(w.text) - len(tail))
	if strings.Contains(tail, ":") {
		return "", nil, &Error{Column: w.column, Text: w.text, Want: "a host's name or address, or name:N; an IPv6 address with a number after it has brackets"}
	}
	return name, &after, nil
}

// number reads a number between 1 and most.
func number(w word, what string, most int) (int, *Error) {
	n, err := strconv.Atoi(w.text)
	if err != nil || n < 1 || n > most || w.text[0] == '+' {
		return 0, &Error{Column: w.column, Text: w.text, Want: fmt.Sprintf("%s from 1 to %d", what, most)}
	}
	return n, nil
}

// after is what is left of a word without its first n bytes, which are ASCII or whole
// characters.
func (w word) after(n int) word {
	return word{w.text[n:], w.column + len([]rune(w.text[:n]))}
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && (a.Zone() == "" || goodName(a.Zone()))
}

// goodName: names of hosts, of ssh's aliases, and IPv4 addresses. Nothing that a shell or
// ssh would take for something else.
func goodName(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '-' && all(s, "._-")
}

func goodUser(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '-' && all(s, `._-+@\`)
}

// all says whether s is made of letters, digits and the others given.
func all(s, others string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return true
}
