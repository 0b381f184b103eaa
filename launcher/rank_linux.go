package launcher

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// rank is one process of the job. It belongs to the supervisor's loop.
type rank struct {
	id    int
	pid   int
	pidfd int   // or -1
	life  int   // our end of its lifeline, or -1
	app   int   // its part of the job
	host  *host // nil: this one

	pmi      deadlineConn
	in       io.WriteCloser // its stdin, or nil
	out, err *stream
	link     *link

	reaped  bool // its pid may belong to somebody else
	gone    bool // with its host
	status  syscall.WaitStatus
	pmiDone bool // all that it said to us has been read

	abort   *failure // it called abort, and that isn't judged yet
	abortNo int      // how many had called it before

	explained bool // its crash was reported already
}

// launch starts one rank. The caller's thread is locked: the child inherits
// its affinity, and is killed when that thread ends.
func (r *rank) launch(p *part, env []string, stdin *os.File) error {
	var ends []*os.File // the child's
	defer func() {
		for _, f := range ends {
			_ = f.Close()
		}
	}()
	outR, outW, err := pipe()
	if err != nil {
		return err
	}
	ends = append(ends, outW)
	errR, errW, err := pipe()
	if err != nil {
		_ = outR.Close()
		return err
	}
	ends = append(ends, errW)
	ours, theirs, err := socketPair()
	if err != nil {
		_, _ = outR.Close(), errR.Close()
		return err
	}
	ends = append(ends, theirs)
	defer r.link.given()
	r.pidfd = -1
	var theirLife int
	if r.life, theirLife = lifeline(); theirLife >= 0 {
		defer func() { _ = unix.Close(theirLife) }()
	}
	r.pid, err = syscall.ForkExec(p.Program.File, p.argv(), &syscall.ProcAttr{
		Dir:   p.Dir,
		Env:   env,
		Files: append([]uintptr{stdin.Fd(), outW.Fd(), errW.Fd(), theirs.Fd()}, r.link.files()...),
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &r.pidfd},
	})
	if err != nil {
		_, _, _ = outR.Close(), errR.Close(), ours.Close()
		return execError(p, err)
	}
	r.pmi = pmiConn{ours}
	r.out.f, r.err.f = pipeSource{outR}, pipeSource{errR}
	return nil
}

func execError(p *part, err error) error {
	path := p.Program.File
	if p.Dir != "" {
		if derr := unix.Access(p.Dir, unix.X_OK); derr != nil {
			return fail(StatusUsage, "working directory: %s: %w", p.Dir, derr)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(StatusNotFound, "%s: %w (or the interpreter that it names is missing)", path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOEXEC), errors.Is(err, unix.ETXTBSY):
		return fail(StatusNotExecutable, "%s: %w", path, err)
	case errors.Is(err, unix.E2BIG):
		return fail(StatusNotExecutable, "%s: %w: too many arguments, or too large an environment", path, err)
	}
	return fail(StatusInternal, "starting %s: %w", path, err)
}

func (r *rank) String() string {
	if r.host != nil {
		return fmt.Sprintf("rank %d on %s (pid %d)", r.id, r.host.name, r.pid)
	}
	return fmt.Sprintf("rank %d (pid %d)", r.id, r.pid)
}

// fate is how the rank has ended.
func (r *rank) fate() string {
	if r.gone {
		return "was lost with its host"
	}
	return describe(r.status)
}
