package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// others are flags for n other hosts, which are this one in truth.
func others(t *testing.T, n int, args ...string) []string {
	t.Helper()
	var hosts []string
	for i := range n {
		hosts = append(hosts, fmt.Sprintf("198.51.100.%d", i+1))
	}
	return append([]string{"--host", strings.Join(hosts, ","), "--launch-agent", agentScript(t)}, args...)
}

// A shell's loop keeps its lines, if they come from a file, or if no rank gets input.
func TestStdinIsGivenBack(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	file := filepath.Join(t.TempDir(), "lines")
	write(t, file, "1\n2\n3\n4\n5\n6\n", 0o600)
	for _, c := range []struct {
		flags, program string
		pipe           bool
		want           string
	}{
		{"", "true", false, "1 2 3 4 5 6"},
		{"", "head -c 2", false, "1 2 3 4 5 6"}, // prints every other line
		{"--stdin none", "true", true, "1 2 3 4 5 6"},
	} {
		j := prepare(t, nil)
		j.cmd.Path = bash
		j.cmd.Args = []string{"bash", "-c", `while read line; do echo $line; (exec -a verbrun "$0" ` + c.flags + ` "$@" ` + c.program + `); done`, self()}
		j.cmd.Args = append(j.cmd.Args, others(t, 1, "-n", "1")...)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		j.cmd.Stdin = f
		if c.pipe {
			j.cmd.Stdin = strings.NewReader("1\n2\n3\n4\n5\n6\n")
		}
		if status := j.start().wait(); status != 0 || strings.Join(strings.Fields(j.out.String()), " ") != c.want {
			t.Errorf("%+v: %d, %q, %q", c, status, j.out.String(), j.err.String())
		}
	}
}

// Told to end while an agent is still awaited.
func TestSignalWhileStarting(t *testing.T) {
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent")
	write(t, agent, "#!/bin/sh\necho ready >"+dir+"/busy; exec sleep 60\n", 0o700)
	for _, c := range []struct {
		sig    syscall.Signal
		status int
		why    string
	}{
		{syscall.SIGINT, 130, "verbrun: ended by SIGINT while waiting for 198.51.100.1\n"},
		{syscall.SIGTERM, 143, "verbrun: ended by SIGTERM while waiting for 198.51.100.1\n"},
		{syscall.SIGKILL, -1, ""},
	} {
		_ = os.Remove(dir + "/busy")
		j := prepare(t, nil, "--host", "198.51.100.1", "--launch-agent", agent, "-n", "1", "true").start()
		j.until("agent started", func() bool { _, err := os.Stat(dir + "/busy"); return err == nil })
		j.signal(syscall.SIGUSR1) // is no reason to end
		j.signal(c.sig)
		if c.sig == syscall.SIGKILL {
			_ = j.cmd.Wait()
			j.clean(2 * time.Second)
		} else if status := j.wait(); status != c.status || j.err.String() != c.why {
			t.Errorf("%v: %d, %q", c.sig, status, j.err.String())
		}
	}
}

// agents finds the processes that have the ranks of other hosts, or their keepers.
func (j *job) agents(keepers bool) (pids []int) {
	for _, pid := range j.processes() {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := bytes.Split(b, []byte{0})
		if string(args[0]) == "verbena-agent-ranks" && !keepers || len(args) > 1 && string(args[1]) == "verbena-agent" && keepers {
			pids = append(pids, pid)
		}
	}
	return pids
}

// What a host's session says to an agent is none of its business: the end of its input
// is what counts.
func TestAgentSignals(t *testing.T) {
	j := prepare(t, nil, others(t, 1, "-n", "1", "sh", "-c", "echo ready; read x; echo $x")...)
	in, err := j.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	j.start()
	j.ready(1)
	for _, pid := range append(j.agents(false), j.agents(true)...) {
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGPIPE, syscall.SIGTSTP} {
			if err := syscall.Kill(pid, s); err != nil {
				t.Error(err)
			}
		}
	}
	_, _ = in.Write([]byte("on\n"))
	if status := j.wait(); status != 0 || j.out.String() != "ready\non\n" || j.err.String() != "" {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// An agent is killed, or its keeper, or both: nothing stays, and the job ends.
func TestAgentKilled(t *testing.T) {
	for _, c := range []struct{ agent, keeper bool }{{true, false}, {false, true}, {true, true}} {
		j := prepare(t, nil, others(t, 2, "-n", "4", "sh", "-c", stubborn)...).start()
		j.ready(4)
		agents, keepers := j.agents(false), j.agents(true)
		if len(agents) != 2 || len(keepers) != 2 {
			t.Fatalf("%v, %v", agents, keepers)
		}
		if c.keeper {
			_ = syscall.Kill(keepers[0], syscall.SIGKILL)
		}
		if c.agent {
			for _, a := range agents { // that of the first keeper
				if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", a)); c.keeper || strings.Contains(string(b), fmt.Sprintf("PPid:\t%d\n", keepers[0])) {
					_ = syscall.Kill(a, syscall.SIGKILL)
					break
				}
			}
		}
		if !c.agent { // the agent goes on without its keeper
			j.signal(syscall.SIGINT)
			j.signal(syscall.SIGINT)
			again := time.AfterFunc(200*time.Millisecond, func() { _ = j.cmd.Process.Signal(syscall.SIGINT) }) // two may become one
			defer again.Stop()
			if status := j.wait(); status != 130 {
				t.Errorf("%+v: %d, %q", c, status, j.err.String())
			}
			continue
		}
		if status := j.wait(); status != 123 || !strings.Contains(j.err.String(), " is gone: ") || !strings.Contains(j.err.String(), ", and with it rank ") {
			t.Errorf("%+v: %d, %q", c, status, j.err.String())
		}
	}
}

// The launcher's death ends agents that other agents have started, too; and so does
// that of an agent in the middle.
func TestTreeKilled(t *testing.T) {
	args := func(script string, more ...string) []string {
		return others(t, 7, append(more, "--fan-out", "2", "-n", "7", "sh", "-c", script)...)
	}
	j := prepare(t, nil, args(stubborn)...).start()
	j.ready(7)
	j.dead()
	j.clean(3 * time.Second)

	j = prepare(t, nil, args("echo ready; echo $PPID; exec sleep 60")...).start()
	j.ready(7)
	killed := 0
	j.until("pids", func() bool { return strings.Count(j.out.String(), "\n") == 14 })
	for _, pid := range j.agents(false) { // the first host's
		kids, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
		for _, kid := range strings.Fields(string(kids)) {
			if b, _ := os.ReadFile("/proc/" + kid + "/environ"); bytes.Contains(b, []byte("PMI_RANK=0\x00")) {
				killed = pid
			}
		}
	}
	if killed == 0 || syscall.Kill(killed, syscall.SIGKILL) != nil {
		t.Fatalf("no agent with rank 0: %d", killed)
	}
	if status := j.wait(); status != 123 || !strings.Contains(j.err.String(), "is gone: ") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

// Asked where they are, ranks of all hosts answer; profiles are written where they run.
func TestOthersVariables(t *testing.T) {
	j := prepare(t, []string{"HOSTNAME=mine", "SSH_CLIENT=me", "TMP=/no/such/folder", "TEMP=/", "PLAIN=a=b"},
		others(t, 1, "-n", "1", "-x", "XAUTHORITY=file", "env")...)
	status := j.start().wait()
	vars := strings.Split(j.out.String(), "\n")
	has := func(name string) (values []string) {
		for _, kv := range vars {
			if n, v, _ := strings.Cut(kv, "="); n == name {
				values = append(values, v)
			}
		}
		return values
	}
	// The other host is this one, whose starter has our variables: those of a host are
	// its own, here the same.
	for name, want := range map[string]string{
		"HOSTNAME": "[mine]", "SSH_CLIENT": "[me]", "TMP": "[/no/such/folder]", "TEMP": "[/]", "PLAIN": "[a=b]", "XAUTHORITY": "[file]",
		"PMI_RANK": "[0]", "MPI_LOCALNRANKS": "[1]",
	} {
		if got := fmt.Sprint(has(name)); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
	if status != 0 {
		t.Error(status, j.err.String())
	}
}

// Control-Z stops whoever started the job, and not those that other hosts wait for.
func TestSuspended(t *testing.T) {
	j := prepare(t, []string{"VERBENA_PEER_TIMEOUT=2s"}, others(t, 2, "-n", "2", "sh", "-c", "echo ready; sleep 4; echo done")...).start()
	j.ready(2)
	for _, pid := range []int{j.cmd.Process.Pid, j.supervisor()} { // the foreground's process group
		if err := syscall.Kill(pid, syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
	}
	j.until("all is done", func() bool { return strings.Count(j.out.String(), "done\n") == 2 })
	j.signal(syscall.SIGCONT)
	if status := j.wait(); status != 0 || j.err.String() != "" {
		t.Errorf("%d, %q", status, j.err.String())
	}
}
