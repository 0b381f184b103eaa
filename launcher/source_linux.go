package launcher

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// source is what a rank's output is read from.
type source interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error

	// drain reads what is there or on its way. Somebody may still be writing, so
	// there is a limit. Room is where the next bytes go, and took is told how many.
	drain(room func() []byte, took func(n int))
}

// pipeSource is a pipe of a rank on this host.
type pipeSource struct{ *os.File }

// maxDrain is above what a pipe holds.
const maxDrain = 64 << 20

func (p pipeSource) drain(room func() []byte, took func(n int)) {
	raw, err := p.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		for left := maxDrain; left > 0; {
			n, err := unix.Read(int(fd), room())
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 || err != nil {
				return
			}
			took(n)
			left -= n
		}
	})
}
