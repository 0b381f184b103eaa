package launcher

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// starter is a command that runs an agent on another host: ssh, srun or what the
// user has said. It is a child of this process.
type starter struct {
	pid   int
	conn  *duplex // its standard output and input
	errs  *os.File
	ended chan syscall.WaitStatus // has room for it
}

// startStarter starts a command from this thread, which is locked. It gets the signal
// atDeath when that ends; its input ends in any case.
func startStarter(r *reaper, argv []string, atDeath syscall.Signal) (*starter, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fail(StatusNotFound, "%s: not found in PATH", argv[0])
	}
	var ends []*os.File
	fileEnds := func() {
		for _, f := range ends {
			_ = f.Close()
		}
	}
	defer fileEnds()
	s := &starter{ended: make(chan syscall.WaitStatus, 1)}
	theirIn, in, err := stdinPipe()
	if err != nil {
		return nil, err
	}
	ends = append(ends, theirIn)
	out, theirOut, err := pipe()
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	ends = append(ends, theirOut)
	errs, theirErr, err := pipe()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	ends = append(ends, theirErr)
	s.conn, s.errs = &duplex{out, out, in}, errs
	r.mu.Lock()
	defer r.mu.Unlock()
	s.pid, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{theirIn.Fd(), theirOut.Fd(), theirErr.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: atDeath},
	})
	if err != nil {
		_, _ = s.conn.Close(), errs.Close()
		return nil, fail(StatusNotExecutable, "%s: %w", path, err)
	}
	r.watchStarter(s.pid, s.ended)
	r.begin()
	return s, nil
}

// kill ends a starter that has no more to do, and what it has started here.
func (r *reaper) killStarter(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.starters[pid] != nil {
		_ = unix.Kill(-pid, unix.SIGKILL)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
