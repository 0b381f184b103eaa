package hosttest

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// usual is the limit of a job.
const usual = 60 * time.Second

// job is a job, running or ended.
type job struct {
	t        *testing.T
	b        *testbed.Bed
	cmds     []*exec.Cmd
	out, err []*output // of each command
	ended    chan struct{}
	started  time.Time
	late     bool // it took too long; to be read when it has ended
}

// begin starts the commands of a job.
func begin(t *testing.T, b *testbed.Bed, cmds []*exec.Cmd) *job {
	t.Helper()
	j := &job{t: t, b: b, cmds: cmds, ended: make(chan struct{}), started: time.Now()}
	var running sync.WaitGroup
	for _, cmd := range cmds {
		out, err := new(output), new(output)
		j.out, j.err = append(j.out, out), append(j.err, err)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, err, 5*time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running.Go(func() { _ = cmd.Wait() })
	}
	overtime := time.AfterFunc(usual, func() {
		j.late = true
		j.signal(syscall.SIGQUIT) // so that it shows where it is
		time.AfterFunc(5*time.Second, func() { j.signal(syscall.SIGKILL) })
	})
	go func() {
		running.Wait()
		overtime.Stop()
		close(j.ended)
	}()
	t.Cleanup(func() {
		j.signal(syscall.SIGKILL)
		<-j.ended
		if t.Failed() {
			t.Log(j)
		}
	})
	return j
}

func (j *job) signal(s syscall.Signal) {
	for _, cmd := range j.cmds {
		_ = cmd.Process.Signal(s)
	}
}

// wait waits for the job's end, and returns the first status that isn't 0. No
// process of what was built may be left in a living host.
func (j *job) wait() int {
	j.t.Helper()
	<-j.ended
	if j.late {
		j.t.Errorf("not done after %v", usual)
	}
	j.gone()
	for _, cmd := range j.cmds {
		if status := cmd.ProcessState.ExitCode(); status != 0 {
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				return 128 + int(ws.Signal())
			}
			return status
		}
	}
	return 0
}

// gone waits until no process is left of what was built.
func (j *job) gone() {
	j.t.Helper()
	testbed.Await(j.t, "the end of all processes", 5*time.Second, func() error {
		var left []testbed.Process
		for host := range j.b.Hosts() {
			left = append(left, j.running(host, "")...)
		}
		if len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
}

// running are the processes on a host of a program that was built, or of all.
func (j *job) running(host int, program string) []testbed.Process {
	j.t.Helper()
	var found []testbed.Process
	for _, p := range j.b.Processes(host) {
		if dir, name := filepath.Split(p.Exe); filepath.Clean(dir) == bin && (program == "" || program == name) {
			found = append(found, p)
		}
	}
	return found
}

// until waits for something about a running job.
func (j *job) until(what string, ok func() bool) {
	j.t.Helper()
	for !ok() {
		select {
		case <-j.ended:
			if !ok() {
				j.t.Fatalf("didn't happen: %s", what)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// stdout and stderr are what all of the job has printed so far.
func (j *job) stdout() string { return all(j.out) }
func (j *job) stderr() string { return all(j.err) }

func (j *job) String() string {
	var s strings.Builder
	for i, cmd := range j.cmds {
		s.WriteString(strings.Join(cmd.Args, " ") + "\n" + cmd.ProcessState.String() +
			"\n--- stdout:\n" + j.out[i].String() + "--- stderr:\n" + j.err[i].String())
	}
	return s.String()
}

func all(parts []*output) string {
	var s strings.Builder
	for _, p := range parts {
		s.WriteString(p.String())
	}
	return s.String()
}

// output is what a command prints, to look into meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
