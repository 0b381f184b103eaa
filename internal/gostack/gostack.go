// Package gostack reads the text in which Go's runtime writes the stacks of
// goroutines: what a crash prints, and what runtime.Stack returns. It takes any
// text: what it doesn't understand it leaves out.
package gostack

import (
	"strconv"
	"strings"
)

// Goroutine is one goroutine of a trace.
type Goroutine struct {
	ID      int
	State   string  // "running", "chan receive", …
	Frames  []Frame // innermost first
	Creator string  // the function that started it; empty for main
}

// Frame is one call.
type Frame struct {
	Func string // with its package's path: "example.org/x.(*T).Do"
	Args string // as printed, without the brackets; "..." for an inlined call
	File string
	Line int
}

// Place is the frame's source line.
func (f Frame) Place() string { return f.File + ":" + strconv.Itoa(f.Line) }

// Parse returns the goroutines of a trace, in its order.
func Parse(text string) []Goroutine {
	var all []Goroutine
	var g *Goroutine
	var call string // whose place the next line gives
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "goroutine "):
			g, call = nil, ""
			if one, ok := header(line); ok {
				all = append(all, one)
				g = &all[len(all)-1]
			}
		case g == nil:
		case line == "":
			g, call = nil, ""
		case strings.HasPrefix(line, "\t"):
			if f, ok := frame(call, line[1:]); ok {
				g.Frames = append(g.Frames, f)
			}
			call = ""
		case strings.HasPrefix(line, "created by "):
			g.Creator, _, _ = strings.Cut(line[len("created by "):], " in goroutine ")
			call = ""
		default:
			call = line
		}
	}
	return all
}

// header reads "goroutine 7 [chan receive, 2 minutes]:". Since Go 1.25 names
// and flags may stand between the number and the bracket.
func header(line string) (Goroutine, bool) {
	number, rest, ok := strings.Cut(line[len("goroutine "):], " ")
	id, err := strconv.Atoi(number)
	if !ok || err != nil {
		return Goroutine{}, false
	}
	from, to := strings.IndexByte(rest, '['), strings.LastIndex(rest, "]:")
	if from < 0 || to < from {
		return Goroutine{}, false
	}
	state, _, _ := strings.Cut(rest[from+1:to], ",")
	return Goroutine{ID: id, State: state}, true
}

// frame joins a call, "main.f(0x1, ...)", and its place, "/x/y.go:12 +0x1d".
func frame(call, place string) (Frame, bool) {
	name, args, ok := cutArgs(call)
	if !ok {
		return Frame{}, false
	}
	if i := strings.LastIndex(place, " +0x"); i >= 0 {
		place = place[:i]
	}
	i := strings.LastIndexByte(place, ':')
	if i < 0 {
		return Frame{}, false
	}
	line, err := strconv.Atoi(place[i+1:])
	if err != nil {
		return Frame{}, false
	}
	return Frame{Func: name, Args: args, File: place[:i], Line: line}, true
}

// cutArgs splits a call. Receivers have brackets too: the last one that opens at
// the outermost level counts.
func cutArgs(call string) (name, args string, ok bool) {
	if !strings.HasSuffix(call, ")") {
		return "", "", false
	}
	depth := 0
	for i := len(call) - 1; i >= 0; i-- {
		switch call[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return call[:i], call[i+1 : len(call)-1], i > 0
			}
		}
	}
	return "", "", false
}

// InPackage says whether the function belongs to the package, or to one below it.
func (f Frame) InPackage(path string) bool {
	rest, ok := strings.CutPrefix(f.Func, path)
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/"))
}
