package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/verbena-mpi/verbena/launcher"
)

// partFlags are the flags that each program of a job has of its own.
type partFlags struct {
	ranks    int
	vars     []string
	envFiles []string
	dir      string
	slots    bool // without -n, as many ranks as the hosts have slots
}

func (p *partFlags) register(f *pflag.FlagSet) {
	f.IntVarP(&p.ranks, "n", "n", 0, "how many ranks: `N`")
	f.StringArrayVarP(&p.vars, "x", "x", nil, "give the ranks a variable: `NAME=VALUE`, or NAME with the value it has here")
	f.StringArrayVar(&p.envFiles, "env-file", nil, "give the ranks the variables in a `FILE`, one NAME=VALUE or NAME a line")
	f.StringVar(&p.dir, "wdir", "", "the folder `DIR` in which the ranks start (default this one)")
}

// part makes a part of what was parsed, and of the program and its arguments.
func (p *partFlags) part(f *pflag.FlagSet, args []string) (launcher.Part, error) {
	none := launcher.Part{}
	switch {
	case len(args) == 0:
		return none, errors.New("no program given; verbrun -h shows how")
	case !f.Changed("n") && !p.slots:
		return none, errors.New("how many ranks? Say -n N")
	case f.Changed("n") && p.ranks < 1:
		return none, fmt.Errorf("%d ranks: expected at least 1", p.ranks)
	case f.Changed("wdir") && p.dir == "":
		return none, errors.New("--wdir: an empty name")
	}
	env, err := variables(p.envFiles, p.vars)
	if err != nil {
		return none, err
	}
	return launcher.Part{Ranks: p.ranks, Program: args[0], Args: args[1:], Dir: p.dir, Env: env}, nil
}

// splitParts cuts a command line at its colons. A colon that isn't followed by a
// flag is an argument like any other, for every part has a -n.
func splitParts(args []string) (first []string, more [][]string) {
	var parts [][]string
	from := 0
	for i := range args {
		if args[i] == ":" && i+1 < len(args) && strings.HasPrefix(args[i+1], "-") {
			parts = append(parts, args[from:i])
			from = i + 1
		}
	}
	parts = append(parts, args[from:])
	return parts[0], parts[1:]
}

// allParts makes all parts of a job: the first one is parsed.
func allParts(f *pflag.FlagSet, first *partFlags, args []string, more [][]string) ([]launcher.Part, error) {
	p, err := first.part(f, args)
	if err != nil {
		return nil, err
	}
	parts := []launcher.Part{p}
	for _, args := range more {
		p, err := parsePart(f, args)
		if err != nil {
			return nil, fmt.Errorf("after the colon before %q: %w", args[0], err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func parsePart(job *pflag.FlagSet, args []string) (launcher.Part, error) {
	var p partFlags
	f := pflag.NewFlagSet("part", pflag.ContinueOnError)
	f.SetInterspersed(false)
	f.Usage = func() {}
	p.register(f)
	if err := f.Parse(mpirunStyle(job, args)); err != nil {
		for arg := range strings.FieldsSeq(err.Error()) {
			if name, ok := strings.CutPrefix(arg, "--"); ok && f.Lookup(name) == nil && job.Lookup(name) != nil {
				return launcher.Part{}, fmt.Errorf("--%s is for the whole job: say it before the first program", name)
			}
		}
		return launcher.Part{}, err
	}
	return p.part(f, f.Args())
}
