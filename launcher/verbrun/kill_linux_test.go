package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubborn is a rank that stays, with children that have left its group.
const stubborn = `trap "" TERM INT HUP
	setsid sh -c 'trap "" TERM HUP; while :; do sleep 60; done' &
	(setsid setsid sleep 77 &)
	echo ready
	while :; do sleep 60; done`

// dead kills the launcher's process and waits for its end.
func (j *job) dead() {
	j.t.Helper()
	j.signal(syscall.SIGKILL)
	_ = j.cmd.Wait()
}

// The launcher dies without a chance to do anything, at any moment.
func TestLauncherKilled(t *testing.T) {
	const rounds = 20
	for i := range rounds {
		j := prepare(t, nil, "-n", "3", "sh", "-c", stubborn).start()
		if i%2 == 0 {
			j.ready(3)
		} else {
			time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		}
		start := time.Now()
		j.dead()
		j.clean(2 * time.Second)
		if t.Failed() {
			t.Fatalf("round %d, %v after the kill", i, time.Since(start))
		}
	}
}

// supervisor finds the second process of the launcher.
func (j *job) supervisor() int {
	for _, pid := range j.processes() {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(b), "verbena-supervisor") {
			return pid
		}
	}
	return 0
}

// The other half of the launcher dies.
func TestSupervisorKilled(t *testing.T) {
	for range 5 {
		j := prepare(t, nil, "-n", "3", "sh", "-c", stubborn).start()
		j.ready(3)
		pid := j.supervisor()
		if pid == 0 {
			t.Fatal("no supervisor")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if status := j.wait(); status != 125 || !strings.Contains(j.err.String(), "ended unexpectedly: signal: killed") {
			t.Fatalf("%d, %q", status, j.err.String())
		}
	}
}

// Killed by name, as people do, is one of the two.
func TestSupervisorName(t *testing.T) {
	j := prepare(t, nil, "-n", "1", "sh", "-c", stubborn).start()
	j.ready(1)
	pid := j.supervisor()
	for _, file := range []string{"comm", "cmdline"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		if err != nil || strings.Contains(string(b), "verbrun") {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	j.dead()
	j.clean(2 * time.Second)
}

// Started by the go command, which is killed: go leaves its child behind.
func TestGoRunKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("builds")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	j := prepare(t, nil)
	cache := t.TempDir() // go run leaves its own files when it is killed
	j.cmd.Path, j.cmd.Args = tool, []string{"go", "run", ".", "-n", "2", "sh", "-c", stubborn}
	j.cmd.Env = append(j.cmd.Env, "GOTMPDIR="+cache)
	j.start()
	for end := time.Now().Add(limit); strings.Count(j.out.String(), "ready\n") != 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no ranks: %s", j.err.String())
		}
	}
	j.signal(syscall.SIGTERM)
	_ = j.cmd.Wait()
	j.clean(3 * time.Second)
}

// Killed while it builds: no compiler goes on, no folder stays.
func TestKilledWhileBuilding(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "go")
	script := "#!/bin/sh\ntouch $GOTMPDIR/busy; echo ready; sleep 60 & wait"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	pkg := program(t, "package main\nfunc main() {}\n")
	path := "PATH=" + filepath.Dir(tool) + ":" + os.Getenv("PATH")
	for _, c := range []struct {
		sig    syscall.Signal
		status int
	}{{syscall.SIGKILL, -1}, {syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		j := prepare(t, []string{path}, "-n", "1", pkg).start()
		j.until("building", func() bool { return strings.Contains(j.err.String(), "ready") })
		j.signal(c.sig)
		if c.sig == syscall.SIGKILL {
			_ = j.cmd.Wait()
			j.until("folder gone", func() bool { f, _ := os.ReadDir(j.tmp); return len(f) == 0 })
			j.clean(2 * time.Second)
			continue
		}
		if status := j.wait(); status != c.status {
			t.Errorf("%v: %d, %s", c.sig, status, j.err.String())
		}
	}
}

// program writes a package directory, and returns it.
func program(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "prog")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.org/prog\n\ngo 1.26\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Nobody reads the output, and the launcher dies.
func TestKilledWithFullPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		j := prepare(t, nil, "-n", "2", "sh", "-c", `trap "" INT; echo ready >&2; exec yes`)
		j.cmd.Stdout = w
		j.start()
		j.until("ready", func() bool { return strings.Count(j.err.String(), "ready") == 2 })
		if sig == syscall.SIGKILL {
			j.dead()
			j.clean(2 * time.Second)
			continue
		}
		j.signal(sig)
		j.signal(sig) // these two may become one
		again := time.AfterFunc(500*time.Millisecond, func() { _ = j.cmd.Process.Signal(sig) })
		if status := j.wait(); status != 130 {
			t.Errorf("%d, %q", status, j.err.String())
		}
		again.Stop()
	}
	_ = w.Close()
}

// The ranks are done, nobody reads what they said, and that is enough.
func TestUnreadOutput(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		j := prepareRanks(t, "lines:800", "-n", "2")
		j.cmd.Stdout = w
		j.start()
		_ = w.Close()
		j.unread(r)
		if sig == syscall.SIGKILL {
			j.dead()
			j.clean(2 * time.Second)
		} else {
			j.signal(sig)
			start := time.Now()
			if status := j.wait(); status != 143 || !strings.Contains(j.err.String(), "ended by SIGTERM with output unread") {
				t.Errorf("%d, %q", status, j.err.String())
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
		}
		_ = r.Close()
	}
}
