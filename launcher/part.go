package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Part is a program of a job, and how many ranks run it.
type Part struct {
	Ranks   int    // 0: as many as there are slots, in a job of one part with hosts
	Program string // a file, a name in PATH, or the directory of a Go main package
	Args    []string

	Dir string   // where the ranks start; "": here. The program is looked up from here anyway.
	Env []string // NAME=VALUE, over the job's
}

// part is a Part as the supervisor gets it.
type part struct {
	Program program
	Name    string // of the program, as the user gave it
	Args    []string
	Env     []string // all of it
	Own     []string // by the part alone
	Dir     string   // absolute, or empty
}

// validate: slots says that Ranks may be left to the slots of the job's hosts.
func (p *Part) validate(slots bool) error {
	switch {
	case p.Ranks < 1 && (p.Ranks < 0 || !slots):
		return fail(StatusUsage, "%d ranks: expected at least 1", p.Ranks)
	case p.Ranks > MaxRanks:
		return fail(StatusUsage, "%d ranks: expected at most %d", p.Ranks, MaxRanks)
	case p.Program == "":
		return fail(StatusUsage, "no program given")
	}
	for _, kv := range p.Env {
		if err := checkVariable(kv); err != nil {
			return &Error{Status: StatusUsage, Err: err}
		}
	}
	return nil
}

// checkVariable says whether NAME=VALUE can be given to a rank.
func checkVariable(kv string) error {
	name, _, ok := strings.Cut(kv, "=")
	switch {
	case !ok || name == "":
		return fmt.Errorf("%q: expected NAME=VALUE", kv)
	case strings.ContainsRune(kv, 0):
		return fmt.Errorf("%s: a value can't have a zero byte", name)
	case foreign(name):
		return fmt.Errorf("%s: this variable is the launcher's own", name)
	}
	return nil
}

// resolve finds the part's program and folder.
func (p *Part) resolve(env []string) (part, error) {
	r := part{Name: p.Program, Args: p.Args, Own: p.Env}
	r.Env = append(append(r.Env, env...), p.Env...)
	var err error
	if r.Program, err = findProgram(p.Program); err != nil {
		return r, err
	}
	if p.Dir == "" {
		return r, nil
	}
	if r.Dir, err = filepath.Abs(p.Dir); err != nil {
		return r, fail(StatusInternal, "%w", err)
	}
	st, err := os.Stat(r.Dir)
	switch {
	case err != nil:
		return r, fail(StatusUsage, "working directory: %w", err)
	case !st.IsDir():
		return r, fail(StatusUsage, "working directory: %s is no directory", p.Dir)
	}
	if r.Program.File != "" {
		if r.Program.File, err = filepath.Abs(r.Program.File); err != nil {
			return r, fail(StatusInternal, "%w", err)
		}
	}
	r.Env = append(r.Env, "PWD="+r.Dir)
	return r, nil
}

// argv is what the program gets: built, it has the name of its file.
func (p *part) argv() []string {
	name := p.Name
	if p.Program.Package != "" {
		name = p.Program.File
	}
	return append([]string{name}, p.Args...)
}
