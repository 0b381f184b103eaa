package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

// A hostfile chooses among the hosts of an allocation, and --host among those that are
// left.
func TestHostSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("h1 slots=2\nh2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	slurm := map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "h[0-2]", "SLURM_TASKS_PER_NODE": "4(x3)"}
	for _, c := range []struct {
		env   map[string]string
		flags string
		want  string // with semicolons for newlines; or the error
		slurm bool
	}{
		{nil, "", "", false},
		{nil, "--hostfile F", "h1 slots=2;h2;", false},
		{nil, "--hostfile F --host h2:7", "h2 slots=7;", false},
		{nil, "--hostfile F --host ^h1", "h2;", false},
		{nil, "--hostfile F --host h0", "--host: h0 isn't among the hosts of F: h1, h2", false},
		{slurm, "", "h0 slots=4;h1 slots=4;h2 slots=4;", true},
		{slurm, "--hostfile F", "h1 slots=2;h2 slots=4;", true},
		{slurm, "--host h2,h0:1", "h2 slots=4;h0 slots=1;", true},
		{slurm, "--hostfile F --host ^h2", "h1 slots=2;", true},
		{slurm, "--host h0:5", "--host: 5 slots of h0: SLURM_JOB_NODELIST states 4", true},
		{slurm, "--host h9", "--host: h9 isn't among the hosts of SLURM_JOB_NODELIST: h0, h1, h2", true},
		{map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "h["}, "", `the Slurm allocation: SLURM_JOB_NODELIST:2: "[": expected a ] after the [`, false},
	} {
		var s sourceFlags
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		s.register(f)
		if err := f.Parse(strings.Fields(strings.ReplaceAll(c.flags, "F", file))); err != nil {
			t.Fatal(err)
		}
		hosts, slurm, err := s.hosts(func(name string) string { return c.env[name] })
		got := strings.ReplaceAll(hostlist.Format(hosts), "\n", ";")
		if err != nil {
			got = strings.ReplaceAll(err.Error(), file, "F")
		} else if slurm != c.slurm {
			t.Errorf("%+v: %v", c, slurm)
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
