package launcher

import (
	"crypto/rand"
	"encoding/hex"
	"os"

	"golang.org/x/sys/unix"
)

// socketPair makes a connection: our end for Go's poller, their end blocking,
// as an inherited descriptor should be. Both are closed on exec.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "socketpair")
	if ours, err = polled(fds[0], "socketpair"); err != nil {
		_ = theirs.Close()
	}
	return ours, theirs, err
}

// pipe makes a pipe whose read end is for Go's poller.
func pipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	w = os.NewFile(uintptr(fds[1]), "pipe")
	if r, err = polled(fds[0], "pipe"); err != nil {
		_ = w.Close()
	}
	return r, w, err
}

// polled takes a descriptor over.
func polled(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// token is part of a name nobody guesses.
func token() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// fileCopy is another descriptor of the same file.
func fileCopy(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
