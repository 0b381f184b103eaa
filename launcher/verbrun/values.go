package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// seconds is a time: a number of seconds, as mpirun has it, or with units.
type seconds time.Duration

func (s *seconds) Set(v string) error {
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n < 1e9 {
		*s = seconds(n * float64(time.Second))
		return nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return errors.New("expected seconds, or a time as 90s or 1h30m")
	}
	*s = seconds(d)
	return nil
}

func (s *seconds) duration() time.Duration { return time.Duration(*s) }
func (s *seconds) String() string {
	if *s == 0 {
		return "" // or the usage would show it as a default
	}
	return s.duration().String()
}
func (s *seconds) Type() string { return "time" }

// quoted is a list of words, each perhaps in quotes. Said again, it grows.
type quoted []string

func (q *quoted) Set(v string) error {
	for {
		v = strings.TrimLeft(v, " \t\n")
		if v == "" {
			return nil
		}
		word, rest := v, ""
		switch c := v[0]; c {
		case '"', '\'':
			end := strings.IndexByte(v[1:], c)
			if end < 0 {
				return fmt.Errorf("the quote before %q isn't closed", v[1:])
			}
			word, rest = v[1:end+1], v[end+2:]
		default:
			if end := strings.IndexAny(v, " \t\n"); end >= 0 {
				word, rest = v[:end], v[end:]
			}
		}
		*q = append(*q, word)
		v = rest
	}
}

func (q *quoted) String() string { return strings.Join(*q, " ") }
func (q *quoted) Type() string   { return "flags" }
