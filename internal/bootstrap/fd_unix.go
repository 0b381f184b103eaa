//go:build unix

package bootstrap

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/control"
)

// join connects to the launcher that the place names.
func (p *place) join(ctx context.Context) (*Job, error) {
	if p.fd < 0 {
		return p.dial(ctx)
	}
	f, err := adopt(p.fd, "PMI_FD")
	if err != nil {
		return nil, fmt.Errorf("bootstrap: rank %d: PMI_FD=%d: %w: left over from another job? %s", p.rank, p.fd, err, useThis)
	}
	j, err := join(ctx, p.rank, p.size, f)
	if err == nil && j.verbrun {
		j.Control, j.Crash = adoptControl(j.Name)
	}
	return j, err
}

// adoptControl takes over what verbrun gives besides PMI: the control connection,
// and the file for last words. Both are nil if it gave none to this job, as when
// the variable is left over from another.
func adoptControl(job string) (*control.Conn, *os.File) {
	p, err := control.ParsePlace(os.Getenv(control.Env))
	if err != nil || p.Job != job {
		return nil, nil
	}
	var crash *os.File
	var st unix.Stat_t
	if unix.Fstat(p.Crash, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		unix.CloseOnExec(p.Crash)
		crash = os.NewFile(uintptr(p.Crash), "crash")
	}
	f, err := adopt(p.Conn, control.Env)
	if err != nil {
		return nil, crash
	}
	return control.NewConn(f), crash
}

// adopt takes an inherited socket over. A stale number may well be an open
// file: what would be written to it then is somebody's data.
func adopt(fd int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, fmt.Errorf("not a socket")
	}
	if typ, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || typ != unix.SOCK_STREAM {
		return nil, fmt.Errorf("not a stream socket")
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil { // so that deadlines work
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
