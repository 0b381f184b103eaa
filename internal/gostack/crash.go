package gostack

import "strings"

// Crash is what a Go program wrote when it crashed.
type Crash struct {
	Why   string // "panic: …" or "fatal error: …", one line; empty if it isn't there
	Where string // the source line, or empty
}

// starts are how the last words of a Go program begin. A quit signal asks for
// stacks, and is no crash.
var starts = []string{
	"panic: ", "fatal error: ", "runtime: goroutine stack exceeds ", "runtime: out of memory", "unexpected fault address ",
	"SIGSEGV: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: ", "SIGABRT: ", "SIGTRAP: ", "SIGSYS: ",
}

// Begins says whether a line may be the first of a crash.
func Begins(line string) bool {
	for _, s := range starts {
		if strings.HasPrefix(line, s) {
			return true
		}
	}
	return false
}

// ReadCrash reads a program's last words. It says no if they aren't those of a
// crash of Go: without the stack of a goroutine they could be anything.
func ReadCrash(text string) (Crash, bool) {
	all := Parse(text)
	c := Crash{Why: reason(text)}
	if len(all) == 0 && !strings.Contains(text, "- deadlock!") {
		return c, false
	}
	if len(all) > 0 {
		c.Where = blamed(all[0].Frames)
	}
	return c, c.Why != "" || !strings.HasPrefix(text, "SIG")
}

// reason is the line that says why. The runtime's remarks may come before it.
func reason(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "goroutine ") {
			break
		}
		if Begins(line) && !strings.HasPrefix(line, "runtime: ") && !strings.HasPrefix(line, "unexpected fault") {
			return line
		}
	}
	return ""
}

// machinery are the packages that a crash goes through and that are seldom its
// place.
var machinery = []string{"runtime", "internal", "sync", "reflect", "log", "testing"}

// blamed is the innermost place in the program's own code.
func blamed(frames []Frame) string {
next:
	for _, f := range frames {
		if f.Func == "panic" {
			continue
		}
		for _, p := range machinery {
			if f.InPackage(p) {
				continue next
			}
		}
		return f.Place()
	}
	if len(frames) > 0 {
		return frames[0].Place()
	}
	return ""
}
