package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/launcher"
)

// parse returns the job that a command line means.
func parse(t *testing.T, args ...string) (j launcher.Job, err error) {
	t.Helper()
	cmd := command(args, func(parsed launcher.Job, _ bool) error {
		j = parsed
		return nil
	})
	err = cmd.Execute()
	return j, err
}

// hosts are as --host reads them.
func hosts(names ...string) []hostlist.Host {
	c, err := hostlist.ParseArg("--host", strings.Join(names, ","))
	if err != nil {
		panic(err)
	}
	return c.Hosts
}

func TestFlags(t *testing.T) {
	prog := func(n int, args ...string) launcher.Part {
		return launcher.Part{Ranks: n, Program: "prog", Args: args}
	}
	for line, want := range map[string]launcher.Job{
		"-n 2 prog -n 3":                       {Parts: []launcher.Part{prog(2, "-n", "3")}},
		"-np 2 prog":                           {Parts: []launcher.Part{prog(2)}},
		"-np=2 prog":                           {Parts: []launcher.Part{prog(2)}},
		"-n2 prog":                             {Parts: []launcher.Part{prog(2)}},
		"-timeout 90 -np 2 prog":               {Parts: []launcher.Part{prog(2)}, Timeout: 90 * time.Second},
		"-timeout=1h30m -n 2 prog -np 7":       {Parts: []launcher.Part{prog(2, "-np", "7")}, Timeout: 90 * time.Minute},
		"--timeout 0.5 -n 2 prog":              {Parts: []launcher.Part{prog(2)}, Timeout: time.Second / 2},
		"-pprof cpu -n 1 prog":                 {Parts: []launcher.Part{prog(1)}, Profile: "cpu"},
		"-bind-to numa -n 2 -- prog -x":        {Parts: []launcher.Part{prog(2, "-x")}, Bind: launcher.BindNUMA},
		"-build-flags -race -n 1 prog":         {Parts: []launcher.Part{prog(1)}, BuildFlags: []string{"-race"}},
		"-wd /tmp -n 1 prog : -n 2 -- prog -x": {Parts: []launcher.Part{{Ranks: 1, Program: "prog", Dir: "/tmp"}, prog(2, "-x")}},
		"-host a,b:2 prog":                     {Parts: []launcher.Part{prog(0)}, Hosts: hosts("a", "b:2")},
		"-H a -hosts b:2 -n 2 prog":            {Parts: []launcher.Part{prog(2)}, Hosts: hosts("a", "b:2")},
		"--host a --map-by node -oversubscribe -n 2 prog": {
			Parts: []launcher.Part{prog(2)}, Hosts: hosts("a"), MapBy: launcher.MapBy{Kind: launcher.MapNode}, Oversubscribe: true,
		},
		"--host a -ppn 2 -display-map prog":       {Parts: []launcher.Part{prog(0)}, Hosts: hosts("a"), MapBy: launcher.MapBy{Kind: launcher.MapPPR, N: 2}, DisplayMap: true},
		"-N 2 --display map -n 1 prog":            {Parts: []launcher.Part{prog(1)}, MapBy: launcher.MapBy{Kind: launcher.MapPPR, N: 2}, DisplayMap: true},
		"-map-by ppr:3:node -host a -n 1 -- prog": {Parts: []launcher.Part{prog(1)}, Hosts: hosts("a"), MapBy: launcher.MapBy{Kind: launcher.MapPPR, N: 3}},
		"--host a --launch-agent rsh --preload ./prog --preload x -n 1 prog": {
			Parts: []launcher.Part{prog(1)}, Hosts: hosts("a"), Agent: "rsh", Preload: []string{"./prog", "x"},
		},
		"-n 1 -x A=1 -x B=-n prog": {Parts: []launcher.Part{{Ranks: 1, Program: "prog", Env: []string{"A=1", "B=-n"}}}},
	} {
		got, err := parse(t, strings.Fields(line)...)
		for i := range got.Parts {
			if len(got.Parts[i].Args) == 0 {
				got.Parts[i].Args = nil
			}
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got)\n%s", line, err, d)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for line, want := range map[string]string{
		"-n 1 prog : -n 1":                   `after the colon before "-n": no program given`,
		"-n 1 prog : -x A=1 prog":            `after the colon before "-x": how many ranks? Say -n N`,
		"-n 1 prog : -n 1 --timeout 3 prog":  "--timeout is for the whole job: say it before the first program",
		"-n 1 prog : -n 1 -bind-to c prog":   "is for the whole job: say it before the first program",
		"-n 1 prog : -n 1 --frobnicate prog": "unknown flag: --frobnicate",
		"-host=a,,b -n 1 prog":               "--host:3: expected hosts with commas between them",
		"--host ^a -n 1 prog":                "hosts are left out, and none is given to leave them out of",
		"--hostfile /no/such -n 1 prog":      "--hostfile: open /no/such: no such file or directory",
		"-f a -f b -n 1 prog":                "--hostfile: 2 files: expected one",
		"-map-by core -n 1 prog":             `--map-by: "core" is none of slot, node, ppr:N`,
		"-map-by node -ppn 2 -n 1 prog":      "-ppn is --map-by ppr:N: say one of them",
		"-ppn x -n 1 prog":                   `"x"`,
		"--display hosts -n 1 prog":          `--display: "hosts": expected map`,
		"--launch-agent= -n 1 prog":          "--launch-agent: an empty command",
		"--launch-agent rsh -n 1 prog":       "--launch-agent: there are no other hosts: name them by --hostfile or --host",
		"--preload a -n 1 prog":              "--preload: there are no other hosts",
		"--host a -n 0 prog":                 "0 ranks: expected at least 1",
		"--host a prog : -n 1 prog":          "how many ranks? Say -n N",
		"-n 1 prog : -n 1 --host a prog":     "--host is for the whole job: say it before the first program",
		"---n 1 prog":                        "bad flag syntax: ---n",
		"-nolocal prog":                      `"olocal"`,
		"-é 1 prog":                          "unknown",
		"-n 1 --wdir= prog":                  "--wdir: an empty name",
		"-n 1 --build-flags='-x prog":        `the quote before "-x" isn't closed`,
		"-n 1 --timeout -3s prog":            "--timeout: -3s: expected more than 0",
		"-n 1 -bind-to x prog":               `--bind-to: "x" is none of none, core, numa`,
	} {
		if _, err := parse(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", line, err, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	var q quoted
	for _, v := range []string{" -race  -v ", `'-ldflags=-s -w' "-tags=a b"`, "", `''`} {
		if err := q.Set(v); err != nil {
			t.Errorf("%q: %v", v, err)
		}
	}
	if d := cmp.Diff(quoted{"-race", "-v", "-ldflags=-s -w", "-tags=a b", ""}, q); d != "" {
		t.Error(d)
	}
}
