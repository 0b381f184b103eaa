package hostlist

import (
	"io"
	"os"
	"strings"
)

// ReadFile reads a hostfile.
func ReadFile(name string) ([]Host, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, err
	}
	return ParseFile(name, string(text))
}

// ParseFile reads the text of a hostfile. The name is for messages.
func ParseFile(name, text string) ([]Host, error) {
	if len(text) > maxText {
		return nil, &Error{File: name, Want: "a hostfile of at most 4 MiB"}
	}
	text = strings.TrimPrefix(text, "\ufeff") // some editors begin with a mark
	var l list
	line := 0
	for s := range strings.Lines(text) {
		line++
		e, some, err := parseLine(s)
		if err == nil && some {
			e.File, e.Line = name, line
			err = l.add(e)
		}
		if err != nil {
			err.File, err.Line = name, line
			return nil, err
		}
	}
	hosts := l.hosts()
	if len(hosts) == 0 {
		return nil, &Error{File: name, Want: "at least one host, as h0 slots=4"}
	}
	return hosts, nil
}

// parseLine reads a line of a hostfile; some is false where it has no host.
func parseLine(s string) (e entry, some bool, err *Error) {
	words := split(s)
	if len(words) == 0 {
		return e, false, nil
	}
	if e, err = parseHost(words[0]); err != nil {
		return e, false, err
	}
	given := map[string]bool{}
	if e.Slots > 0 {
		given["slots"] = true
	}
	if e.User != "" {
		given["user"] = true
	}
	for _, w := range words[1:] {
		if err := e.attribute(w, given); err != nil {
			return e, false, err
		}
	}
	return e, true, nil
}

// attribute reads one key=value of a line.
func (e *entry) attribute(w word, given map[string]bool) (err *Error) {
	const keys = "slots=N, max_slots=N, port=N or user=NAME"
	key, value, ok := strings.Cut(w.text, "=")
	key = strings.ReplaceAll(key, "-", "_")
	v := w.after(len(w.text) - len(value))
	switch {
	case e.not:
		return &Error{Column: w.column, Text: w.text, Want: "nothing after a host that is left out"}
	case !ok:
		return &Error{Column: w.column, Text: w.text, Want: keys}
	case given[key]:
		return &Error{Column: w.column, Text: w.text, Want: key + " once in a line"}
	}
	given[key] = true
	switch key {
	case "slots":
		e.Slots, err = number(v, "a number of slots", MaxSlots)
	case "max_slots":
		e.Max, err = number(v, "a number of slots", MaxSlots)
	case "port":
		e.Port, err = number(v, "a port", 65535)
	case "user":
		if e.User = value; !goodUser(value) {
			err = &Error{Column: v.column, Text: value, Want: "a user's name"}
		}
	default:
		err = &Error{Column: w.column, Text: w.text, Want: keys}
	}
	if err == nil && e.Max > 0 && e.Max < e.Slots {
		err = &Error{Column: w.column, Text: w.text, Want: "max_slots of slots or more"}
	}
	return err
}

// split cuts a line into words, without its comment. Blanks around = don't count.
func split(s string) []word {
	s, _, _ = strings.Cut(s, "#")
	var words []word
	column, glue := 0, false
	from := -1 // in bytes
	begin := 0 // column of from
	flush := func(end int) {
		if from < 0 {
			return
		}
		w := word{s[from:end], begin}
		from = -1
		if n := len(words); n > 0 && (glue || w.text[0] == '=') {
			words[n-1].text += w.text
		} else {
			words = append(words, w)
		}
		glue = strings.HasSuffix(w.text, "=")
	}
	for i, r := range s {
		column++
		switch r {
		case ' ', '\t', '\n', '\r', '\v', '\f':
			flush(i)
		default:
			if from < 0 {
				from, begin = i, column
			}
		}
	}
	flush(len(s))
	return words
}
