package pmi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Errors of the decoder. A WireError that wraps them says what was wrong.
var (
	ErrMalformed = errors.New("malformed PMI message")
	ErrTooLong   = errors.New("PMI message too long")
)

// Field is one key=value pair.
type Field struct{ Key, Value string }

// Message is one line. The order of fields carries no meaning and differs
// between servers; Get looks a key up by name.
type Message struct {
	Cmd    string
	Fields []Field
}

// Msg makes a message from alternating keys and values.
func Msg(cmd string, kv ...string) Message {
	m := Message{Cmd: cmd}
	for i := 0; i+1 < len(kv); i += 2 {
		m.Fields = append(m.Fields, Field{kv[i], kv[i+1]})
	}
	return m
}

// Get returns the value of a key, and whether it was there.
func (m Message) Get(key string) (string, bool) {
	for _, f := range m.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Int returns a key's value as a number.
func (m Message) Int(key string) (int, error) {
	s, ok := m.Get(key)
	if !ok {
		return 0, fmt.Errorf("%w: %s has no %s", ErrMalformed, m.Cmd, key)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%w: %s=%s in %s is no number", ErrMalformed, key, Quote(s), m.Cmd)
	}
	return n, nil
}

// Parse reads one line, with or without its newline.
func Parse(line []byte) (Message, error) {
	var m Message
	if len(line) > MaxLine {
		return m, fmt.Errorf("%w: over %d bytes", ErrTooLong, MaxLine)
	}
	s := strings.TrimSuffix(string(line), "\n")
	if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		return m, fmt.Errorf("%w: control character in %s", ErrMalformed, Quote(s))
	}
	seen := false
	for word := range strings.SplitSeq(s, " ") {
		if word == "" {
			continue
		}
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return m, fmt.Errorf("%w: %s in %s is no key=value", ErrMalformed, Quote(word), Quote(s))
		}
		if key == "cmd" {
			if seen || value == "" {
				return m, fmt.Errorf("%w: cmd empty or given twice in %s", ErrMalformed, Quote(s))
			}
			seen, m.Cmd = true, value
			continue
		}
		if _, dup := m.Get(key); dup {
			return m, fmt.Errorf("%w: %s given twice in %s", ErrMalformed, Quote(key), Quote(s))
		}
		m.Fields = append(m.Fields, Field{key, value})
	}
	if !seen {
		if v, ok := m.Get("mcmd"); ok {
			m.Cmd = "mcmd:" + v // the first line of a multi-line request
			return m, nil
		}
		return m, fmt.Errorf("%w: no cmd in %s", ErrMalformed, Quote(s))
	}
	return m, nil
}

// Format is the inverse of Parse, newline included. It refuses what couldn't
// be parsed again.
func (m Message) Format() ([]byte, error) {
	b := make([]byte, 0, 128)
	b = append(b, "cmd="...)
	if !word(m.Cmd) || m.Cmd == "" {
		return nil, fmt.Errorf("%w: cmd %s", ErrMalformed, Quote(m.Cmd))
	}
	b = append(b, m.Cmd...)
	for i, f := range m.Fields {
		if f.Key == "" || f.Key == "cmd" || !word(f.Key) || strings.Contains(f.Key, "=") {
			return nil, fmt.Errorf("%w: key %s", ErrMalformed, Quote(f.Key))
		}
		if !word(f.Value) {
			return nil, fmt.Errorf("%w: value %s", ErrMalformed, Quote(f.Value))
		}
		for _, g := range m.Fields[:i] {
			if g.Key == f.Key {
				return nil, fmt.Errorf("%w: key %s given twice", ErrMalformed, Quote(f.Key))
			}
		}
		b = append(append(append(append(b, ' '), f.Key...), '='), f.Value...)
	}
	if len(b)+1 > MaxLine {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(b)+1)
	}
	return append(b, '\n'), nil
}

// word says whether s can stand on the wire unchanged.
func word(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) < 0
}

// Quote shows wire bytes in an error: printable and short.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
