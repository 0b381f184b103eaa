package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The test binary is also verbrun, and the ranks.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "verbrun" {
		os.Exit(run(os.Args[1:]))
	}
	if as := os.Getenv("VERBRUN_TEST_RANK"); as != "" {
		os.Exit(asRank(as))
	}
	// A child with the race detector would sleep a second when it exits.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// self is this test binary.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exe
}

// buffer is a bytes.Buffer to look into while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.NewReplacer(" on "+otherHosts[0], "", " on "+otherHosts[1], "").Replace(b.b.String())
}

// otherHosts are two that aren't this one, and have no names to look up.
var otherHosts = [2]string{"198.51.100.1", "198.51.100.2"}

// onOthers: ranks run on other hosts, so called (TestOnOtherHosts).
func onOthers() bool { return os.Getenv("VERBRUN_TEST_HOSTS") != "" }

// elsewhere are flags for ranks on other hosts, if that is where they are to be.
func elsewhere(t *testing.T, args []string) []string {
	t.Helper()
	if !onOthers() || len(args) == 0 || args[0] == "info" {
		return nil
	}
	return []string{"--host", strings.Join(otherHosts[:], ","), "--launch-agent", agentScript(t)}
}

// launchers is how many processes are not ranks: two here, and two on each other host.
func launchers() int {
	if onOthers() {
		return 2 + 2*len(otherHosts)
	}
	return 2
}

// agentScript is a launch agent that runs commands on this host.
func agentScript(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "agent")
	// As a login shell that greets first, and doesn't end its line.
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho welcome to $1; printf 'have fun'\nexec /bin/sh -c \"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// job is one verbrun, running.
type job struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err buffer
	token    string
	tmp      string
	started  time.Time
}

var tokens atomic.Int64

// prepare makes a verbrun. The caller may change cmd before start.
func prepare(t *testing.T, env []string, args ...string) *job {
	t.Helper()
	j := &job{t: t, token: fmt.Sprintf("VERBRUN_TEST_TOKEN=%d.%d", os.Getpid(), tokens.Add(1)), tmp: t.TempDir()}
	j.cmd = &exec.Cmd{Path: self(), Args: slices.Concat([]string{"verbrun"}, elsewhere(t, args), args)}
	j.cmd.Env = append(append(os.Environ(), "TMPDIR="+j.tmp, j.token), env...)
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.err
	j.cmd.WaitDelay = 5 * time.Second
	return j
}

func (j *job) start() *job {
	j.t.Helper()
	j.started = time.Now()
	if err := j.cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(func() { // in case of a failed test: nothing stays
		for _, pid := range j.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return j
}

// limit is the most that any test's job takes.
const limit = 30 * time.Second

// wait returns the status. Nothing of the job may be left then.
func (j *job) wait() int {
	j.t.Helper()
	return j.finish(true)
}

// finish returns the status, and checks, perhaps, that nothing is left.
func (j *job) finish(clean bool) int {
	j.t.Helper()
	stop := time.AfterFunc(limit, func() { _ = j.cmd.Process.Kill() })
	defer stop.Stop()
	err := j.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		j.t.Errorf("%v: %v", j.cmd.Args, err)
	}
	if time.Since(j.started) >= limit {
		j.t.Errorf("%v: not done after %v", j.cmd.Args, limit)
	}
	if clean {
		j.clean(2 * time.Second)
	}
	return j.cmd.ProcessState.ExitCode()
}

// clean checks that all processes and files of the job are gone within a time.
func (j *job) clean(within time.Duration) {
	j.t.Helper()
	var pids []int
	end := time.Now().Add(within)
	for {
		if pids = j.processes(); len(pids) == 0 || time.Now().After(end) {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	for _, pid := range pids {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		j.t.Errorf("%v: still there after %v: pid %d %q", j.cmd.Args, within, pid, b)
	}
	if files, err := os.ReadDir(j.tmp); err != nil || len(files) > 0 {
		j.t.Errorf("%v: left in TMPDIR: %v, %v", j.cmd.Args, files, err)
	}
}

// processes lists all that have the job's token in their environment.
func (j *job) processes() []int {
	dir, _ := os.ReadDir("/proc")
	var pids []int
	for _, e := range dir {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && bytes.Contains(append([]byte{0}, append(env, 0)...), []byte("\x00"+j.token+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// until waits for something about a running job.
func (j *job) until(what string, ok func() bool) {
	j.t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			j.t.Fatalf("%v: didn't happen: %s\nstdout: %s\nstderr: %s", j.cmd.Args, what, j.out.String(), j.err.String())
		}
	}
}

// ready waits until n ranks have said so.
func (j *job) ready(n int) {
	j.t.Helper()
	j.until("all ranks ready", func() bool { return strings.Count(j.out.String(), "ready\n") == n })
}

func (j *job) signal(s syscall.Signal) {
	j.t.Helper()
	if err := j.cmd.Process.Signal(s); err != nil {
		j.t.Error(err)
	}
}

// verbrun runs a job to its end.
func verbrun(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	j := prepare(t, nil, args...).start()
	status = j.wait()
	return status, j.out.String(), j.err.String()
}

// ranks runs this binary as ranks to the end.
func ranks(t *testing.T, as string, args ...string) (status int, out, errs string) {
	t.Helper()
	j := prepareRanks(t, as, args...).start()
	status = j.wait()
	return status, j.out.String(), j.err.String()
}

func prepareRanks(t *testing.T, as string, args ...string) *job {
	t.Helper()
	return prepare(t, []string{"VERBRUN_TEST_RANK=" + as}, append(args, self())...)
}
