package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pair: ours, where a user sits, and the program's.
func terminal(t *testing.T) (user, tty *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	var n int
	raw, err := user.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var cerr error
	err = raw.Control(func(fd uintptr) {
		if cerr = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); cerr == nil {
			n, cerr = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	return user, tty
}

// atTerminal starts a job in the foreground of a terminal.
func atTerminal(t *testing.T, j *job) (user *os.File, screen *buffer) {
	t.Helper()
	user, tty := terminal(t)
	j.cmd.Stdin, j.cmd.Stdout, j.cmd.Stderr = tty, tty, tty
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	j.start()
	_ = tty.Close()
	screen = &buffer{}
	go func() {
		b := make([]byte, 1000)
		for {
			n, err := user.Read(b)
			_, _ = screen.Write(bytes.ReplaceAll(b[:n], []byte("\r"), nil))
			if err != nil {
				return
			}
		}
	}()
	return user, screen
}

// Rank 0 talks with somebody at a terminal, prompt included.
func TestTerminal(t *testing.T) {
	j := prepare(t, nil, "-n", "2", "sh", "-c",
		`test $PMI_RANK = 0 || exit 0; printf 'name? '; read x; echo "hello $x"; cat; echo bye`)
	user, screen := atTerminal(t, j)
	see := func(what string) {
		t.Helper()
		j.until(what, func() bool { return strings.Contains(screen.String(), what) })
	}
	say := func(s string) {
		t.Helper()
		if _, err := user.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	see("name? ")
	say("you\n")
	see("hello you\n")
	say("more\n")
	see("more\nmore\n") // the terminal's echo and cat's
	say("\x04")
	see("bye\n")
	if status := j.wait(); status != 0 {
		t.Errorf("%d, %q", status, screen.String())
	}
}

// What is typed goes to all who are to have it.
func TestTerminalAll(t *testing.T) {
	j := prepare(t, nil, "-n", "2", "--stdin=all", "sh", "-c", `echo ready; read x; echo "$PMI_RANK has $x"; cat`)
	user, screen := atTerminal(t, j)
	j.until("ready", func() bool { return strings.Count(screen.String(), "ready\n") == 2 })
	if _, err := user.WriteString("this\n\x04"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"0 has this\n", "1 has this\n"} {
		j.until(line, func() bool { return strings.Contains(screen.String(), line) })
	}
	if status := j.wait(); status != 0 {
		t.Errorf("%d, %q", status, screen.String())
	}
}

// An interrupt from the keyboard arrives once.
func TestTerminalInterrupt(t *testing.T) {
	j := prepareRanks(t, "signals:quiet", "-n", "2")
	user, screen := atTerminal(t, j)
	count := func(what string, n int) {
		t.Helper()
		j.until(what, func() bool { return strings.Count(screen.String(), what) >= n })
	}
	count("ready\n", 2)
	if _, err := user.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	count("got interrupt\n", 2)
	j.signal(syscall.SIGUSR1) // what came before it has come
	count("got user defined signal 1\n", 2)
	if n := strings.Count(screen.String(), "got interrupt\n"); n != 2 {
		t.Errorf("%d interrupts at 2 ranks", n)
	}
	if _, err := user.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if status := j.wait(); status != 130 {
		t.Errorf("%d, %q", status, screen.String())
	}
}

// In the background nothing is read from the terminal, and nothing stops.
func TestTerminalBackground(t *testing.T) {
	j := prepare(t, nil)
	j.cmd.Path = "/bin/bash"
	j.cmd.Dir = t.TempDir()
	j.cmd.Args = []string{"bash", "-c", `set -m; mkfifo fifo0 fifo1
		(exec -a verbrun "$0" -n 2 sh -c 'echo ready; read x < fifo$PMI_RANK; echo done') &
		read x; echo "the shell has $x"; echo > fifo0; echo > fifo1; wait $!; echo "status $?"`, self()}
	user, screen := atTerminal(t, j)
	j.until("ready", func() bool { return strings.Count(screen.String(), "ready\n") == 2 })
	if _, err := user.WriteString("this\n"); err != nil {
		t.Fatal(err)
	}
	j.until("end", func() bool { return strings.Contains(screen.String(), "status ") })
	if s := screen.String(); !strings.Contains(s, "the shell has this\n") || strings.Count(s, "done\n") != 2 || !strings.Contains(s, "status 0") {
		t.Errorf("%q", s)
	}
	if status := j.wait(); status != 0 {
		t.Error(status)
	}
}
