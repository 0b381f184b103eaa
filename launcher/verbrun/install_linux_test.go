package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// goTool is a job that the go command runs, or is to: in this folder.
func goTool(t *testing.T, dir string, args ...string) *job {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command: ", err)
	}
	j := prepare(t, nil)
	j.cmd.Path, j.cmd.Args, j.cmd.Dir = tool, append([]string{"go"}, args...), dir
	return j
}

const module = "github.com/verbena-mpi/verbena"

// anotherModule is a user's, which has verbrun as a tool.
func anotherModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	// What we require, so that nothing is downloaded.
	text := strings.Replace(string(mod), "module "+module, "module example.org/user", 1)
	text, _, _ = strings.Cut(text, "\ntool ")
	text += "\nrequire " + module + " v0.0.0\nreplace " + module + " => " + root + "\ntool " + module + "/launcher/verbrun\n"
	write(t, filepath.Join(dir, "go.mod"), text, 0o600)
	write(t, filepath.Join(dir, "go.sum"), string(sum), 0o600)
	write(t, filepath.Join(dir, "hello", "main.go"), helloProgram, 0o600)
	return dir
}

// As a tool of a user's module, it builds that module's packages, passes
// signals on and has the job's status.
func TestGoTool(t *testing.T) {
	if testing.Short() {
		t.Skip("builds")
	}
	dir := anotherModule(t)
	j := goTool(t, dir, "tool", "verbrun", "-n", "2", "./hello", "x")
	if status := j.start().wait(); status != 0 || strings.Count(j.out.String(), " hello [x] \n") != 2 {
		t.Fatalf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
	j = goTool(t, dir, "tool", "verbrun", "-n", "1", "sh", "-c", "cat; exit 5")
	j.cmd.Stdin = strings.NewReader("input")
	if status := j.start().wait(); status != 5 || j.out.String() != "input" {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
	j = goTool(t, dir, "tool", "verbrun", "-n", "2", "sh", "-c", "echo ready; exec sleep 60").start()
	j.ready(2)
	j.signal(syscall.SIGTERM)
	if status := j.wait(); status != 143 || !strings.Contains(j.err.String(), "was killed by SIGTERM") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

// Run by the go command, a status that isn't 0 is 1.
func TestGoRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds")
	}
	for _, c := range []struct {
		script string
		status int
	}{{"echo x; exit 0", 0}, {"echo x; exit 5", 1}} {
		j := goTool(t, "../..", "run", "./launcher/verbrun", "-n", "1", "sh", "-c", c.script)
		if status := j.start().wait(); status != c.status || j.out.String() != "x\n" || (c.status != 0) != strings.Contains(j.err.String(), "exited with status 5\n") {
			t.Errorf("%s: %d, %q, %q", c.script, status, j.out.String(), j.err.String())
		}
	}
}

// Installed, under whatever name.
func TestInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("builds")
	}
	bin := t.TempDir()
	j := goTool(t, ".", "install", ".")
	j.cmd.Env = append(j.cmd.Env, "GOBIN="+bin)
	if status := j.start().wait(); status != 0 {
		t.Fatalf("%d, %q", status, j.err.String())
	}
	if err := os.Rename(filepath.Join(bin, "verbrun"), filepath.Join(bin, "vrun-1")); err != nil {
		t.Fatal(err)
	}
	j = prepare(t, []string{"PATH=" + bin + ":" + os.Getenv("PATH")})
	j.cmd.Path, j.cmd.Args = "/bin/sh", []string{"sh", "-c", `vrun-1 -n 2 sh -c 'echo x; exit 0' && vrun-1 -n 1 sh -c 'exit 5'`}
	if status := j.start().wait(); status != 5 || j.out.String() != "x\nx\n" {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}
