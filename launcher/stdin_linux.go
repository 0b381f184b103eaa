package launcher

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stdin is what rank 0 reads: our own standard input itself, so that nothing
// is read that the rank doesn't ask for and nothing is changed on the way.
//
// A terminal is another matter. Ranks are in process groups of their own, in
// the background, and a background process that reads a terminal is stopped.
// So we read it, and the rank gets a pipe.
func (v *supervisor) stdin() (*os.File, error) {
	if !terminal(os.Stdin) {
		return os.Stdin, nil
	}
	v.prompts = terminal(os.Stdout)
	// Here the write end is ours.
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	w, err := polled(fds[1], "stdin")
	if err != nil {
		_ = unix.Close(fds[0])
		return nil, err
	}
	go v.typed(os.Stdin, w)
	return os.NewFile(uintptr(fds[0]), "stdin"), nil
}

func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// typed passes on what is typed, while we are in the foreground: to read in
// the background would stop us too.
func (v *supervisor) typed(tty, to *os.File) {
	defer func() { _ = to.Close() }()
	const look = 100 * time.Millisecond
	fds := []unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}
	buf := make([]byte, 4096)
	for {
		select {
		case <-v.done:
			return
		default:
		}
		fg, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
		if err != nil {
			return
		}
		if fg != unix.Getpgrp() {
			time.Sleep(look)
			continue
		}
		if n, err := unix.Poll(fds, int(look.Milliseconds())); n == 0 || err == unix.EINTR {
			continue
		}
		n, err := tty.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return // nobody reads it any more
			}
		}
		if err != nil {
			return
		}
	}
}
