package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The test binary is the helper, too: it is there, and it needs nothing built.
func init() {
	if len(os.Args) > 2 && os.Args[0] == inside {
		help(os.Args[1], os.Args[2], os.Args[3:])
	}
}

// help runs a program inside the host of a process, and ends as it does.
func help(pid, name string, args []string) {
	// The program is killed when the thread that started it ends.
	runtime.LockOSThread()
	// Before the program can tell anybody that it is there.
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	p, err := launch(pid, name, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		quit(127)
	}
	go pass(signals, p)
	state, err := p.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		quit(127)
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		die(ws.Signal())
	}
	quit(state.ExitCode())
}

// launch starts the program. It is killed when the helper is: setpriv asks for
// that, since SysProcAttr.Pdeathsig takes a parent in another pid namespace for
// one that has died.
func launch(pid, name string, args []string) (*os.Process, error) {
	host, err := strconv.Atoi(pid)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := enter(host, hostSpaces()...); err != nil {
		return nil, err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, err
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		setpriv = "/usr/bin/setpriv"
	}
	return os.StartProcess(setpriv, append([]string{"setpriv", "--pdeathsig", "KILL", path}, args...), &os.ProcAttr{
		// What else the test handed over is inherited as it is.
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		// A signal to the helper's group reaches the program once.
		Sys: &unix.SysProcAttr{Setpgid: true},
	})
}

// pass passes on what a program can be sent.
func pass(signals <-chan os.Signal, p *os.Process) {
	for s := range signals {
		switch s {
		case unix.SIGCHLD, unix.SIGURG, unix.SIGPIPE: // the helper's own
		default:
			_ = p.Signal(s)
		}
	}
}

// die ends the helper by a signal, without a core file of it: as a shell, since
// Go's runtime makes exits of some.
func die(s syscall.Signal) {
	_ = unix.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("ulimit -c 0; kill -%d $$", s)}, nil)
	quit(128 + int(s))
}

// quit exits at once: with the race detector os.Exit takes a second.
func quit(status int) {
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(status), 0, 0)
}
