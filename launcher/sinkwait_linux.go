package launcher

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryAgain waits until a writer that was full has room, if that was the error:
// whoever shares our stdout may have made it non-blocking.
func tryAgain(w io.Writer, err error) bool {
	f, ok := w.(*os.File)
	if !ok || !errors.Is(err, unix.EAGAIN) {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	_, err = unix.Poll(fds, 1000)
	return err == nil || errors.Is(err, unix.EINTR)
}
