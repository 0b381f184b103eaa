package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/launcher"
)

// sourceFlags say which hosts there are.
type sourceFlags struct {
	files []string
	names []string
}

func (s *sourceFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&s.files, "hostfile", nil, "a `FILE` of hosts, one \"name slots=N max_slots=M\" a line")
	f.StringArrayVar(&s.names, "host", nil, "hosts: `a,b:2,user@c`, with numbers of slots; among those of a hostfile or an allocation these alone, and ^a all but a")
}

// hosts are those that the flags name, or those of a Slurm allocation; none: this one.
func (s *sourceFlags) hosts(getenv func(string) string) (hosts []hostlist.Host, slurm bool, err error) {
	if hosts, err = hostlist.Slurm(getenv); err != nil {
		return nil, false, fmt.Errorf("the Slurm allocation: %w", err)
	}
	slurm = len(hosts) > 0
	if len(s.files) > 1 {
		return nil, false, fmt.Errorf("--hostfile: %d files: expected one", len(s.files))
	}
	for _, name := range s.files {
		file, err := hostlist.ReadFile(name)
		if err == nil {
			hosts, err = hostlist.Choice{Hosts: file}.From(hosts)
		}
		if err != nil {
			return nil, false, fmt.Errorf("--hostfile: %w", err)
		}
	}
	if len(s.names) > 0 {
		c, err := hostlist.ParseArg("--host", strings.Join(s.names, ","))
		if err != nil {
			return nil, false, err
		}
		if hosts, err = c.From(hosts); err != nil {
			return nil, false, err
		}
	}
	return hosts, slurm, nil
}

// placeFlags say which ranks run on which host, and how others are reached.
type placeFlags struct {
	sourceFlags
	mapBy   string
	ppn     int
	display string
	limit   seconds
}

func (p *placeFlags) register(f *pflag.FlagSet, j *launcher.Job) {
	p.sourceFlags.register(f)
	f.StringVar(&p.mapBy, "map-by", "", "the `ORDER` in which hosts get ranks: slot (one host is filled, then the next), node (a rank each, in turns) or ppr:N (N each) (default slot)")
	f.IntVar(&p.ppn, "ppn", 0, "")
	_ = f.MarkHidden("ppn") // mpirun's spelling of ppr
	f.BoolVar(&j.Oversubscribe, "oversubscribe", false, "let hosts have more ranks than slots, up to max_slots")
	f.StringVar(&j.Agent, "launch-agent", "", "the `COMMAND` that runs another one on a host (default ssh, or srun in a Slurm allocation)")
	f.Var(&p.limit, "launch-timeout", "how long a host's agent may take to answer (default 30s)")
	f.IntVar(&j.FanOut, "fan-out", 0, "start at most `N` agents from here, and others from those (default 32)")
	f.StringArrayVar(&j.Preload, "preload", nil, "copy a `FILE` to the other hosts before the ranks start; the program too, if it is named")
	f.StringVar(&p.display, "display", "", "print `WHAT`: map, which ranks run on which host")
}

// apply puts what the flags say into the job.
func (p *placeFlags) apply(f *pflag.FlagSet, j *launcher.Job, getenv func(string) string) (err error) {
	if j.MapBy, err = launcher.ParseMapBy(p.mapBy); err != nil {
		return fmt.Errorf("--map-by: %w", err)
	}
	if f.Changed("ppn") {
		if f.Changed("map-by") {
			return errors.New("-ppn is --map-by ppr:N: say one of them")
		}
		j.MapBy = launcher.MapBy{Kind: launcher.MapPPR, N: p.ppn}
	}
	j.AgentLimit = p.limit.duration()
	switch {
	case f.Changed("launch-timeout") && p.limit <= 0:
		return fmt.Errorf("--launch-timeout: %v: expected more than 0", p.limit.duration())
	case f.Changed("fan-out") && j.FanOut < 1:
		return fmt.Errorf("--fan-out: %d: expected at least 1", j.FanOut)
	case p.display == "map":
		j.DisplayMap = true
	case f.Changed("display"):
		return fmt.Errorf("--display: %q: expected map", p.display)
	case f.Changed("launch-agent") && strings.TrimSpace(j.Agent) == "":
		return errors.New("--launch-agent: an empty command")
	}
	j.Hosts, j.Slurm, err = p.hosts(getenv)
	if err != nil {
		return err
	}
	if len(j.Hosts) == 0 && (j.Agent != "" || len(j.Preload) > 0) {
		name := "launch-agent"
		if j.Agent == "" {
			name = "preload"
		}
		return fmt.Errorf("--%s: there are no other hosts: name them by --hostfile or --host", name)
	}
	return nil
}
