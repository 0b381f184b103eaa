package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseNodes reads Slurm's short form of a list of names: h[0-3,07],g01 and, with several
// brackets, every combination: r[1-2]n[0-1] is r1n0, r1n1, r2n0, r2n1. The name is the
// variable's, for messages.
func ParseNodes(name, text string) ([]string, error) {
	if len(text) > maxText {
		return nil, &Error{File: name, Want: "a list of at most 4 MiB"}
	}
	var nodes []string
	for from := 0; from <= len(text); {
		end := itemEnd(text, from)
		more, err := expand(word{text[from:end], from + 1}, MaxHosts-len(nodes))
		if err != nil {
			err.File = name
			return nil, err
		}
		nodes = append(nodes, more...)
		from = end + 1
	}
	return nodes, nil
}

// itemEnd finds the next comma outside brackets.
func itemEnd(text string, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(text)
}

// expand makes the names that one item means: at most so many.
func expand(item word, most int) ([]string, *Error) {
	names := []string{""}
	for rest := item; rest.text != "" || rest == item; {
		plain, inner, bracket := strings.Cut(rest.text, "[")
		pieces := []string{plain}
		if bracket {
			list, tail, closed := strings.Cut(inner, "]")
			w := rest.after(len(plain) + 1)
			if !closed {
				return nil, &Error{Column: w.column - 1, Text: rest.text[len(plain):], Want: "a ] after the ["}
			}
			ids, err := parseIDs(word{list, w.column}, most)
			if err != nil {
				return nil, err
			}
			pieces = ids
			for i := range pieces {
				pieces[i] = plain + pieces[i]
			}
			rest = word{tail, w.column + len([]rune(list)) + 1}
		} else {
			rest = word{"", rest.column + 1}
		}
		if len(names)*len(pieces) > most {
			return nil, &Error{Column: item.column, Text: item.text, Want: fmt.Sprintf("at most %d nodes", MaxHosts)}
		}
		var next []string
		for _, n := range names {
			for _, p := range pieces {
				if len(n)+len(p) > maxName {
					return nil, &Error{Column: item.column, Text: item.text, Want: fmt.Sprintf("names of at most %d characters", maxName)}
				}
				next = append(next, n+p)
			}
		}
		names = next
	}
	for _, n := range names {
		if !goodName(n) {
			return nil, &Error{Column: item.column, Text: item.text, Want: "a node's name, as h0 or h[0-3,7]"}
		}
	}
	return names, nil
}

// parseIDs reads what is in brackets: 0-3,07. Zeros before a number are part of it.
func parseIDs(list word, most int) ([]string, *Error) {
	var ids []string
	column := list.column
	for s := range strings.SplitSeq(list.text, ",") {
		bad := &Error{Column: column, Text: s, Want: "a number or a range, as 7 or 0-3"}
		low, high, isRange := strings.Cut(s, "-")
		if !isRange {
			high = low
		}
		const width = 9
		from, err1 := strconv.ParseUint(low, 10, 31)
		to, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || len(low) > width || len(high) > width || from > to {
			return nil, bad
		}
		if to-from >= uint64(max(most-len(ids), 0)) {
			bad.Want = fmt.Sprintf("at most %d nodes", MaxHosts)
			return nil, bad
		}
		for n := from; n <= to; n++ {
			ids = append(ids, fmt.Sprintf("%0*d", len(low), n))
		}
		column += len([]rune(s)) + 1
	}
	return ids, nil
}
