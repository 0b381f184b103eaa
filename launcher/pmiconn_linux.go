package launcher

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/pmi"
)

// deadlineConn is our end of a rank's connection to the PMI server.
type deadlineConn interface {
	pmi.Conn
	SetDeadline(time.Time) error
}

// pmiConn is that of a rank on this host.
type pmiConn struct{ *os.File }

// Close ends the connection for the rank too: there is another descriptor for
// it (see deaths).
func (c pmiConn) Close() error {
	_ = c.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RDWR) })
	return c.File.Close()
}

// control calls f with the descriptor, which stays in Go's poller.
func (c pmiConn) control(f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var ferr error
	if err := raw.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}
