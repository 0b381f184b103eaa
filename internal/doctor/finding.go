package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Level says how bad a finding is.
type Level int

const (
	OK      Level = iota
	Warning       // slows a job, or stops some
	Problem       // stops a job
)

func (l Level) String() string {
	switch l {
	case OK:
		return "ok"
	case Warning:
		return "warning"
	default:
		return "problem"
	}
}

// Finding is what a check has found.
type Finding struct {
	Level  Level
	Check  string
	Found  string
	Advice string // what to do; "": nothing
}

func ok(format string, args ...any) Finding {
	return Finding{Found: fmt.Sprintf(format, args...)}
}

func warning(advice, format string, args ...any) Finding {
	return Finding{Level: Warning, Found: fmt.Sprintf(format, args...), Advice: advice}
}

func problem(advice, format string, args ...any) Finding {
	return Finding{Level: Problem, Found: fmt.Sprintf(format, args...), Advice: advice}
}

// Write prints findings, a line each.
func Write(w io.Writer, findings []Finding) error {
	wide := 0
	for _, f := range findings {
		wide = max(wide, len(f.Check))
	}
	for _, f := range findings {
		line := fmt.Sprintf("%-7s  %-*s  %s", f.Level, wide, f.Check, oneLine(f.Found))
		if f.Advice != "" {
			line += ": " + oneLine(f.Advice)
		}
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// oneLine keeps what other programs and hosts say on its line, and from a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}

// Stops says whether any of the findings stops a job.
func Stops(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == Problem })
}
