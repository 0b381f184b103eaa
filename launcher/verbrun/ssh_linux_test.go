package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Arguments, variables and input arrive on other hosts to the byte.
func TestSSHExact(t *testing.T) {
	b := sshBed(t, 2)
	argv := []string{"", " ", "a  b", "$HOME", "*", "'", `"`, `\`, "-x", "--", "\n", "é", "\xff"}
	env := []string{"A==,;", "B='\"\n`$(x)\\", "C=", "D=\xff\xfe é"}
	data, said := random(64 << 20)
	args := append([]string{"--host", "h0,h1", "-n", "2", "--map-by", "node", "--stdin", "all"}, self())
	j := onBed(t, b, append(env, "VERBRUN_TEST_RANK=argv"), append(args, argv...)...)
	if status := j.start().wait(); status != 0 {
		t.Fatalf("%d, %s", status, j.err.String())
	}
	for rank := range 2 {
		want := fmt.Sprintf("%d %q %q\n", rank, argv, env)
		if !strings.Contains(j.out.String(), want) {
			t.Errorf("no %s in %s", want, j.out.String())
		}
	}
	j = onBed(t, b, []string{"VERBRUN_TEST_RANK=sum"}, args...)
	j.cmd.Stdin = bytes.NewReader(data)
	if status := j.start().wait(); status != 0 || !strings.Contains(j.out.String(), said(0)) || !strings.Contains(j.out.String(), said(1)) {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// A reader on another host that begins late sets the pace, and loses nothing.
func TestSSHSlowReader(t *testing.T) {
	b := sshBed(t, 2)
	data, said := random(64 << 20)
	in := &counted{r: bytes.NewReader(data)}
	j := onBed(t, b, []string{"VERBRUN_TEST_RANK=sum:0"}, "--host", "h1", "-n", "1", self())
	j.cmd.Stdin = in
	j.start()
	j.ready(1)
	j.until("input taken", func() bool { return in.n.Load() >= 64<<10 })
	if n := in.n.Load(); n > 4<<20 { // what the way to h1 holds
		t.Errorf("%d bytes taken, and nobody reads", n)
	}
	if err := j.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if status := j.wait(); status != 0 || !strings.Contains(j.out.String(), said(0)) {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// A host that can't be used: what is said, and the status.
func TestSSHRefusals(t *testing.T) {
	b := sshBed(t, 3)
	dir := t.TempDir()
	hidden := filepath.Join(dir, "hidden")
	if err := os.Mkdir(hidden, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(hidden, "prog"), "#!/bin/sh\necho I run\n", 0o755)
	b.Hide(1, hidden)
	b.Hide(2, filepath.Dir(self())) // verbrun itself
	for _, c := range []struct {
		name   string
		args   []string
		dir    string
		status int
		want   string
	}{
		{"unresolvable", []string{"--host", "h9", "-n", "1", "true"}, "", 123, "h9: ssh can't reach it: ssh: Could not resolve hostname h9: "},
		{"refused", []string{"--hostfile", "hosts", "-n", "1", "true"}, dir, 123, "h1: ssh can't reach it: ssh: connect to host h1 port 23: Connection refused"},
		{"denied", []string{"--host", "nobodyknows@h1", "-n", "1", "true"}, "", 123, "nobodyknows@h1: ssh can't reach it: nobodyknows@h1: Permission denied"},
		{"no shell", []string{"--host", "daemon@h1", "-n", "1", "true"}, "", 123, "daemon@h1: ssh exited with status 1 before the agent answered: This account is currently not available."},
		{"no verbrun", []string{"--host", "h2", "-n", "1", "true"}, "", 127, "h2: no verbrun at " + self() + " there: install it, or say --preload"},
		{"no program", []string{"--host", "h1", "-n", "1", hidden + "/prog"}, "", 127, "h1: " + hidden + "/prog: no such file or directory"},
		{"no folder", []string{"--host", "h1", "-n", "1", "true"}, hidden, 0, ""},
		{"no other folder", []string{"--host", "h0,h1", "-n", "2", "--wdir", hidden + "/sub", "true"}, hidden, 2, "h1: working directory: " + hidden + "/sub: no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.MkdirAll(hidden+"/sub", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "hosts"), "h0\nh1 port=23\n", 0o644)
			j := onBed(t, b, nil, c.args...)
			if c.name == "refused" {
				j = onBed(t, b, nil, "--host", "h1", "--hostfile", filepath.Join(dir, "hosts"), "-n", "1", "true")
			}
			j.cmd.Dir = c.dir
			start := time.Now()
			status := j.start().wait()
			if status != c.status || c.want != "" && !strings.Contains(j.err.String(), "verbrun: "+c.want) || c.want == "" && j.err.String() != "" {
				t.Errorf("%d, expected %d\n%q\nexpected %q", status, c.status, j.err.String(), c.want)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Both the program and verbrun are sent where they are missing, and nothing stays.
func TestSSHPreload(t *testing.T) {
	b := sshBed(t, 3)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "prog"), "#!/bin/sh\necho $PMI_RANK on $(hostname): $(cat $VERBENA_PRELOAD/data)\n", 0o755)
	write(t, filepath.Join(dir, "data"), "some\n", 0o644)
	b.Hide(1, dir)
	b.Hide(2, filepath.Dir(self()))
	b.Hide(2, dir)
	j := onBed(t, b, nil, "--host", "h0,h1,h2", "-n", "3", "--wdir", "/", "--preload", dir+"/prog", "--preload", dir+"/data", dir+"/prog")
	status := j.start().wait()
	lines := strings.Split(strings.TrimSpace(j.out.String()), "\n")
	slices.Sort(lines)
	if want := []string{"0 on h0: some", "1 on h1: some", "2 on h2: some"}; status != 0 || !slices.Equal(lines, want) || j.err.String() != "" {
		t.Errorf("%d, %q, %q", status, lines, j.err.String())
	}
}

// A program that was built here is sent to hosts that don't see it.
func TestSSHBuilt(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	b := sshBed(t, 3)
	pkg := program(t, `package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	name, _ := os.Hostname()
	fmt.Println(os.Getenv("PMI_RANK"), name, filepath.Base(os.Args[0]), os.Args[1:])
}
`)
	j := onBed(t, b, nil, "--host", "h0,h1,h2", "-n", "3", "--wdir", "/", pkg, "an argument")
	b.Hide(1, j.tmp)
	status := j.start().wait()
	lines := strings.Split(strings.TrimSpace(j.out.String()), "\n")
	slices.Sort(lines)
	if want := []string{"0 h0 prog [an argument]", "1 h1 prog [an argument]", "2 h2 prog [an argument]"}; status != 0 || !slices.Equal(lines, want) || j.err.String() != "" {
		t.Errorf("%d, %q, %q", status, lines, j.err.String())
	}
}

// The launcher is killed: ranks on all hosts end, daemons of theirs too.
func TestSSHLauncherKilled(t *testing.T) {
	b := sshBed(t, 3)
	for i := range 4 {
		j := onBed(t, b, nil, "--host", "h0,h1,h2", "-n", "6", "sh", "-c", stubborn).start()
		j.ready(6)
		name := "verbena-supervisor"
		if i%2 == 1 {
			name = "verbrun"
		}
		killed := false
		for _, pid := range j.processes() {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if arg0, _, _ := strings.Cut(string(cmdline), "\x00"); filepath.Base(arg0) == name {
				killed = syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
		if !killed {
			t.Fatalf("no %s", name)
		}
		_ = j.cmd.Wait()
		j.clean(3 * time.Second)
	}
}

// A host's power fails, or its cable is cut: the job ends, or goes on without it.
func TestSSHHostLost(t *testing.T) {
	for _, c := range []struct {
		name  string
		cut   bool
		flags []string
		want  string
	}{
		{"killed", false, nil, "verbrun: host h1 is gone: ssh "},
		{"cut", true, nil, "verbrun: host h1 is gone: no sign of life for 2s, and with it rank 2-3"},
		{"killed, and the others go on", false, []string{"--continuous"}, ", and with it rank 2-3; the other ranks go on\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sshBed(t, 3)
			script := stay
			if c.flags != nil {
				script = `echo ready; test $PMI_RANK = 2 -o $PMI_RANK = 3 && exec sleep 60; read x < $FIFO; echo done`
			}
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			j := onBed(t, b, []string{"VERBENA_PEER_TIMEOUT=2s", "FIFO=" + fifo}, append(c.flags, "--host", "h0,h1,h2", "-n", "6", "sh", "-c", script)...).start()
			j.ready(6)
			start := time.Now()
			if c.cut {
				b.Cut(1)
			} else {
				b.Kill(1)
			}
			if c.flags != nil {
				j.until("loss", func() bool { return strings.Contains(j.err.String(), "go on") })
				f, err := os.OpenFile(fifo, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
				_, _ = f.WriteString("1\n2\n3\n4\n")
			}
			limit := 5 * time.Second
			status := j.finish(!c.cut)
			if status != 123 || !strings.Contains(j.err.String(), c.want) {
				t.Errorf("%d, %q", status, j.err.String())
			}
			if c.flags != nil && strings.Count(j.out.String(), "done\n") != 4 {
				t.Errorf("%q", j.out.String())
			}
			if took := time.Since(start); took > limit {
				t.Errorf("took %v", took)
			}
			if c.cut { // those on the other side of the cut notice, too
				j.clean(5 * time.Second)
			}
		})
	}
}
