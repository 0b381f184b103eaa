package testbed

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// output is what a command prints that must succeed, in time.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	overtime := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !overtime.Stop() {
		t.Fatalf("%v: not done after %v: %s%s", cmd.Args, limit, &out, &errs)
	}
	if err != nil {
		t.Fatalf("%v: %v: %s%s", cmd.Args, err, &out, &errs)
	}
	return out.String()
}

// Arguments, environment, folder, streams and further files arrive as they are.
func TestCommand(t *testing.T) {
	t.Parallel()
	b := New(t, 1)
	cmd := b.Command(0, "sh", "-c", `printf '%s|' "$@"; printf '%s|' "$V"; pwd; cat; cat <&3`, "sh", "", " ", "a  b\n", "$HOME", "-x", "\xff")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "V= =;\n")
	cmd.Stdin = strings.NewReader("in\n")
	file := filepath.Join(cmd.Dir, "file")
	if err := os.WriteFile(file, []byte("three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.ExtraFiles = []*os.File{f}
	want := "| |a  b\n|$HOME|-x|\xff| =;\n|" + cmd.Dir + "\nin\nthree\n"
	if got := output(t, cmd); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A command ends as its program did.
func TestStatus(t *testing.T) {
	t.Parallel()
	b := New(t, 1)
	for _, tt := range []struct{ script, want string }{
		{"exit 0", "exit status 0"},
		{"exit 7", "exit status 7"},
		{"kill -TERM $$", "signal: terminated"},
		{"kill -KILL $$", "signal: killed"},
		{"kill -SEGV $$", "signal: segmentation fault"},
	} {
		cmd := b.Command(0, "sh", "-c", tt.script)
		_ = cmd.Run()
		if got := cmd.ProcessState.String(); got != tt.want {
			t.Errorf("%s: %s", tt.script, got)
		}
	}
	if out, err := b.Command(0, "no-such-program").CombinedOutput(); err == nil || !strings.Contains(string(out), "no-such-program") {
		t.Errorf("%v: %s", err, out)
	}
}

// A signal to a command reaches its program, once; one to kill takes it along.
func TestSignal(t *testing.T) {
	t.Parallel()
	b := New(t, 1)
	// begin returns a command, and the program's number inside; it exits with the
	// number of signals that it got.
	begin := func() (*exec.Cmd, string) {
		cmd := b.Command(0, "bash", "-c", `n=0; trap 'n=$((n + 1))' USR1; echo $$; until [ $n -gt 0 ]; do sleep 0.01; done; sleep 0.1; exit $n`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return cmd, strings.TrimSpace(line)
	}
	cmd, _ := begin()
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.String(); got != "exit status 1" {
		t.Errorf("got %q", got)
	}
	cmd, pid := begin()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	// It is killed with the helper, and the init reaps it.
	b.await("the program's end", func() error {
		if _, err := b.Command(0, "test", "-e", "/proc/"+pid).CombinedOutput(); err == nil {
			return errors.New("it is there")
		}
		return nil
	})
}
