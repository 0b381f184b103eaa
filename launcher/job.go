package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

// Job says what to run. Parts are needed; the zero value of everything else is
// a good default.
type Job struct {
	// Parts are one program, or several that work together. Ranks are numbered
	// through them in order.
	Parts []Part

	// Hosts are those that the job may use. None: this one, with any number of ranks.
	// With hosts, stated slots are enforced, and the one part of a job may leave its
	// number of ranks 0: as many as there are slots.
	Hosts []hostlist.Host
	// Slurm says that Hosts are nodes of the Slurm allocation that this process is in
	// (hostlist.Slurm): srun reaches them, and not ssh. A node's name is all that says
	// whether it is this host.
	Slurm bool
	MapBy MapBy
	// Oversubscribe lets hosts have more ranks than slots, but never more than their
	// max_slots.
	Oversubscribe bool
	// Agent is the command that runs another one on a host, in place of ssh: words with
	// blanks between them, to which the host and the command are added. "": ssh, or srun.
	Agent string
	// AgentLimit is how long the agent on another host may take to answer. 0: 30 s.
	AgentLimit time.Duration
	// FanOut is how many agents this process starts by itself, and each agent in turn:
	// a tree. 0: 32.
	FanOut int
	// Preload are files that are copied to each other host before ranks start there. A
	// part's program that is among them is started from its copy.
	Preload    []string
	DisplayMap bool // print which ranks run on which host, before they start

	Input          Input
	Output         Output
	BuildFlags     []string // of go build, for packages
	Bind           Bind
	Timeout        time.Duration // of the ranks, building excluded; 0: none
	Continuous     bool          // a rank that dies doesn't end the job
	DetectDeadlock bool          // ends the job; without it a deadlock is reported
	Verbose        bool

	Profile        string // of each rank: "cpu", to rank-N.pprof, or none
	ReportBindings bool   // say on which cores each rank runs

	Env                   []string // nil: this process's; parts may say more
	Stdin, Stdout, Stderr *os.File // nil: this process's

	// Signals are passed to the ranks as they come. The caller asks for them
	// with os/signal; ForwardedSignals are the ones to ask for.
	Signals <-chan os.Signal

	// Solo says that this process does nothing but run the job: whatever
	// becomes its child meanwhile belongs to the job and may be killed.
	Solo bool
}

// MaxRanks bounds the ranks of a job, so that a slip of the finger is an error and not
// a machine out of processes.
const MaxRanks = 4096

// Bind says where ranks may run.
type Bind int

const (
	BindAuto Bind = iota // BindCore if there is a core for each, else BindNone
	BindNone
	BindCore // rank i on the i-th allowed core, counted round
	BindNUMA // on all allowed cores of a NUMA node; neighbours share one
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
	case "numa":
		return BindNUMA, nil
	}
	return 0, fmt.Errorf("%q is none of none, core, numa", s)
}

// Statuses of the launcher's own.
const (
	StatusBuild         = 1
	StatusDeadlock      = 1
	StatusUsage         = 2
	StatusHost          = 123 // a host couldn't be reached, or was lost
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
	ranks := 0
	for i := range j.Parts {
		if err := j.Parts[i].validate(len(j.Parts) == 1 && len(j.Hosts) > 0); err != nil {
			return err
		}
		ranks += j.Parts[i].Ranks
	}
	if err := j.validateHosts(); err != nil {
		return err
	}
	switch {
	case ranks > MaxRanks:
		return fail(StatusUsage, "%d ranks: expected at most %d", ranks, MaxRanks)
	case len(j.Parts) == 0:
		return fail(StatusUsage, "no program given")
	case j.Timeout < 0:
		return fail(StatusUsage, "a time limit of %v: expected more than 0", j.Timeout)
	case j.Profile != "" && j.Profile != "cpu":
		return fail(StatusUsage, "%q is no kind of profile: expected cpu", j.Profile)
	case j.Input < InputFirst || j.Input > InputNone:
		return fail(StatusUsage, "input %d is unknown", j.Input)
	case j.Bind < BindAuto || j.Bind > BindNUMA:
		return fail(StatusUsage, "binding %d is unknown", j.Bind)
	}
	return nil
}

// validateHosts checks what says where ranks run.
func (j *Job) validateHosts() error {
	for i := range j.Hosts {
		if err := j.Hosts[i].Validate(); err != nil {
			return &Error{Status: StatusUsage, Err: err}
		}
	}
	if j.Slurm && len(j.Hosts) == 0 {
		return fail(StatusUsage, "a job in a Slurm allocation: no hosts given")
	}
	if j.AgentLimit < 0 {
		return fail(StatusUsage, "a limit of %v for agents: expected more than 0", j.AgentLimit)
	}
	if j.FanOut < 0 {
		return fail(StatusUsage, "a fan-out of %d: expected at least 1", j.FanOut)
	}
	for _, f := range j.Preload {
		if f == "" {
			return fail(StatusUsage, "a file to preload has an empty name")
		}
	}
	return j.MapBy.validate()
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

// spec finds what the job names.
func (j *Job) spec(ctx context.Context) (s spec, err error) {
	s = spec{Env: j.Env, Input: j.Input, Output: j.Output, BuildFlags: j.BuildFlags, Bind: j.Bind, Timeout: j.Timeout, Continuous: j.Continuous, DetectDeadlock: j.DetectDeadlock, Verbose: j.Verbose, ReportBindings: j.ReportBindings, DisplayMap: j.DisplayMap, Reach: reach{Agent: j.Agent, Slurm: j.Slurm}, FanOut: j.FanOut, AgentLimit: j.AgentLimit}
	if s.FanOut == 0 {
		s.FanOut = defaultFanOut
	}
	if s.AgentLimit == 0 {
		s.AgentLimit = defaultAgentLimit
	}
	if s.Env == nil {
		s.Env = os.Environ()
	}
	for _, p := range j.Parts {
		if j.Profile != "" {
			p.Env = append([]string{"VERBENA_PPROF=" + j.Profile}, p.Env...)
		}
		r, err := p.resolve(s.Env)
		if err != nil {
			return s, err
		}
		s.Parts = append(s.Parts, r)
	}
	if s.Preload, err = statPreload(j.Preload); err != nil {
		return s, err
	}
	if s.Plan, err = j.plan(ctx); err != nil {
		return s, err
	}
	if len(s.BuildFlags) > 0 && !s.builds() {
		return s, fail(StatusUsage, "build flags %q: %s isn't a package directory, and nothing is built", s.BuildFlags, s.Parts[0].Name)
	}
	return s, nil
}

// Defaults of a job's FanOut and AgentLimit.
const (
	defaultFanOut     = 32
	defaultAgentLimit = 30 * time.Second
)

// remember notes what other hosts must have as this one has it.
func (s *spec) remember() (err error) {
	if s.Self, err = os.Executable(); err != nil {
		return fail(StatusInternal, "the name of this program's file: %w", err)
	}
	if s.Dir, err = os.Getwd(); err != nil {
		return fail(StatusInternal, "the working directory: %w", err)
	}
	return nil
}

// plan places the ranks, and says which host is this one.
func (j *Job) plan(ctx context.Context) (*plan, error) {
	hosts := j.Hosts
	if len(hosts) > 0 {
		self := hostlist.ThisHost
		if j.Slurm {
			self = func() hostlist.Self { return hostlist.SlurmHost(os.Getenv) }
		}
		hosts = self().Mark(ctx, hosts)
	}
	var counts []int
	for _, p := range j.Parts {
		counts = append(counts, p.Ranks)
	}
	return newPlan(counts, hosts, j.MapBy, j.Oversubscribe)
}
