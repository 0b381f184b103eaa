//go:build unix

package bootstrap

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// join connects to the launcher that the place names.
func (p *place) join(ctx context.Context) (*Job, error) {
	if p.fd < 0 {
		return p.dial(ctx)
	}
	f, err := adopt(p.fd)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: rank %d: PMI_FD=%d: %w: left over from another job? %s", p.rank, p.fd, err, useThis)
	}
	return join(ctx, p.rank, p.size, f)
}

// adopt takes an inherited socket over. A stale number may well be an open
// file: what would be written to it then is somebody's data.
func adopt(fd int) (*os.File, error) {
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
	return os.NewFile(uintptr(fd), "PMI_FD"), nil
}
