package launcher

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Job says what to run. Ranks and Program are needed; the zero value of
// everything else is a good default.
type Job struct {
	Ranks   int
	Program string // a file, a name in PATH, or the directory of a Go main package
	Args    []string

	Bind    Bind
	Timeout time.Duration // of the ranks, building excluded; 0: none
	Verbose bool

	Env                   []string // nil: this process's
	Stdin, Stdout, Stderr *os.File // nil: this process's

	// Signals are passed to the ranks as they come. The caller asks for them
	// with os/signal; ForwardedSignals are the ones to ask for.
	Signals <-chan os.Signal

	// Solo says that this process does nothing but run the job: whatever
	// becomes its child meanwhile belongs to the job and may be killed.
	Solo bool
}

// MaxRanks bounds Job.Ranks, so that a slip of the finger is an error and not
// a machine out of processes.
const MaxRanks = 4096

// Bind says where ranks may run.
type Bind int

const (
	BindAuto Bind = iota // BindCore if there is a core for each, else BindNone
	BindNone
	BindCore // rank i on the i-th allowed core, counted round
)

// ParseBind reads the value of --bind-to.
func ParseBind(s string) (Bind, error) {
	switch s {
	case "", "auto":
		return BindAuto, nil
	case "none":
		return BindNone, nil
	case "core":
		return BindCore, nil
	}
	return 0, fmt.Errorf("%q is neither none nor core", s)
}

// Statuses of the launcher's own.
const (
	StatusBuild         = 1
	StatusUsage         = 2
	StatusTimeout       = 124
	StatusInternal      = 125
	StatusNotExecutable = 126
	StatusNotFound      = 127
)

// Error is a job that didn't start, and the exit status for it.
type Error struct {
	Status int
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrUnsupported: this system can't run ranks yet.
var ErrUnsupported = errors.New("starting ranks is not supported on this system yet")

func fail(status int, format string, args ...any) error {
	return &Error{Status: status, Err: fmt.Errorf(format, args...)}
}

// Status is the exit status for what Run returned.
func Status(r Result, err error) int {
	if err == nil {
		return r.Status
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return StatusInternal
}

// Result is how a job ended.
type Result struct {
	Status int
	Why    string // one line, as printed; empty if all went well
	Rank   int    // the first rank to fail, or -1
}

func (j *Job) validate() error {
	switch {
	case j.Ranks < 1:
		return fail(StatusUsage, "%d ranks: expected at least 1", j.Ranks)
	case j.Ranks > MaxRanks:
		return fail(StatusUsage, "%d ranks: expected at most %d", j.Ranks, MaxRanks)
	case j.Program == "":
		return fail(StatusUsage, "no program given")
	case j.Timeout < 0:
		return fail(StatusUsage, "a time limit of %v: expected more than 0", j.Timeout)
	case j.Bind < BindAuto || j.Bind > BindCore:
		return fail(StatusUsage, "binding %d is unknown", j.Bind)
	}
	return nil
}

// files fills in the process's own.
func (j *Job) files() (in, out, err *os.File) {
	in, out, err = j.Stdin, j.Stdout, j.Stderr
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	if err == nil {
		err = os.Stderr
	}
	return in, out, err
}
