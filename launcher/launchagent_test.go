package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

func TestReach(t *testing.T) {
	const line = "exec /bin/sh -c 'echo \"$0\"' /a/b 'c d'"
	command := []string{"/bin/sh", "-c", `echo "$0"`, "/a/b", "c d"}
	for _, c := range []struct {
		reach reach
		host  hostlist.Host
		want  []string
	}{
		{reach{}, hostlist.Host{Name: "h1"}, []string{"ssh", "-T", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ControlMaster=no", "--", "h1", line}},
		{reach{}, hostlist.Host{Name: "fe80::1%eth0", User: "me", Port: 2222}, []string{"ssh", "-T", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ControlMaster=no", "-p", "2222", "--", "me@fe80::1%eth0", line}},
		{reach{Agent: "rsh  -v"}, hostlist.Host{Name: "h1", User: "me"}, []string{"rsh", "-v", "me@h1", line}},
		{reach{Agent: "rsh", Slurm: true}, hostlist.Host{Name: "h1", Port: 7}, []string{"rsh", "-p", "7", "h1", line}},
		{reach{Slurm: true}, hostlist.Host{Name: "h1"}, append([]string{
			"env", "-u", "SRUN_CPUS_PER_TASK", "-u", "SLURM_EXACT", "-u", "SLURM_CPU_BIND",
			"srun", "--nodes=1", "--ntasks=1", "--nodelist=h1", "--overlap", "--mpi=none", "--cpu-bind=none", "--mem=0", "--quiet", "--unbuffered",
		}, command...)},
	} {
		if d := cmp.Diff(c.want, c.reach.argv(c.host, command)); d != "" {
			t.Errorf("%+v, %+v: (-want +got)\n%s", c.reach, c.host, d)
		}
	}
}

// Whatever shell a user has on the other host, it reads the line in the same way.
func TestLoginShells(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a \"folder\" of $HOME; *")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "verbrun")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s|' \"$0\" \"$@\"; cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	self, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	line := func(program string, size int64) string {
		argv := reach{Agent: "x"}.argv(hostlist.Host{Name: "h"}, agentCommand(program, size, []string{"patience=1", "b c"}))
		return argv[len(argv)-1]
	}
	tried := 0
	for _, shell := range []string{"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "fish", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		tried++
		for _, c := range []struct {
			line, want string
		}{
			{line(program, 0), program + "|verbena-agent|patience=1|b c|" + string(self)},
			{line(program, int64(len(self))), program + "|verbena-agent|patience=1|b c|" + string(self)},
			{line(missing, 0), "verbena-agent: missing\n"},
			{line(dir, 0), "verbena-agent: denied\n"},
			{line(missing, int64(len(self))), "verbena-agent: send\n" + "HOME/verbrun|verbena-agent|patience=1|b c|home=HOME|"},
			{line(missing, int64(len(self))+1), "verbena-agent: send\nverbena-agent: failed verbrun could not be copied to HOME\n"},
		} {
			tmp := t.TempDir()
			args := []string{"-c", c.line}
			if shell == "busybox" {
				args = append([]string{"sh"}, args...)
			}
			cmd := exec.Command(path, args...)
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+dir)
			cmd.Stdin = strings.NewReader(string(self))
			out, _ := cmd.Output()
			got := string(out)
			if i := strings.Index(got, tmp+"/verbrun-"); i >= 0 {
				home := got[i : i+len(tmp)+len("/verbrun-XXXXXXXXXX")]
				got = strings.ReplaceAll(got, home, "HOME")
			}
			if got != c.want {
				t.Errorf("%s: %s\n%q, expected\n%q", shell, c.line, got, c.want)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%s: left: %v, %v", shell, left, err)
			}
		}
	}
	t.Logf("%d shells", tried)
}
