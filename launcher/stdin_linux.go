package launcher

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stdinFor is what a rank reads. If rank 0 alone has input, that is our own
// standard input itself, so that nothing is read that the rank doesn't ask for
// and nothing is changed on the way. Ranks without input get none.
//
// A terminal is another matter. Ranks are in process groups of their own, in
// the background, and a background process that reads a terminal is stopped.
// So we read it, and the rank gets a pipe; and so we do if all have input.
func (v *supervisor) stdinFor(r *rank) (*os.File, error) {
	mode := v.spec.Input
	if !mode.reaches(r.id) {
		return nil, nil
	}
	tty := terminal(os.Stdin)
	if mode == InputFirst && !tty {
		return os.Stdin, nil
	}
	v.prompts = tty && terminal(os.Stdout)
	theirs, ours, err := stdinPipe()
	if err == nil {
		r.in = ours
	}
	return theirs, err
}

// stdinPipe makes a pipe whose write end is for Go's poller.
func stdinPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	if w, err = polled(fds[1], "stdin"); err != nil {
		_ = unix.Close(fds[0])
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "stdin"), w, nil
}

func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// feed passes our standard input on to all ranks that have a pipe for it. The
// slowest of them sets the pace: nothing is kept here but what one read gave.
func (v *supervisor) feed() {
	defer close(v.fed)
	var to []io.WriteCloser
	for _, r := range v.ranks {
		if r.in != nil {
			to = append(to, r.in)
		}
	}
	if len(to) == 0 {
		return
	}
	defer func() {
		for _, f := range to {
			_ = f.Close()
		}
	}()
	read := os.Stdin.Read
	if terminal(os.Stdin) {
		read = v.typed
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := read(buf)
		v.read += int64(n)
		to = writeAll(to, buf[:n])
		if len(to) == 0 {
			return // nobody reads it any more
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !terminal(os.Stdin) {
				v.log.Warnf("standard input is lost from here on: %v", err)
			}
			return
		}
	}
}

// returns says whether input that rank 0, on another host, leaves unread can be given
// back: to whoever reads the same file after us, as a shell's loop does.
func (v *supervisor) returns() bool {
	if v.spec.Input != InputFirst || v.ranks[0].host == nil {
		return false
	}
	st, err := os.Stdin.Stat()
	return err == nil && st.Mode().IsRegular()
}

// giveBack moves our standard input back to where rank 0 has read, if that is known.
func (v *supervisor) giveBack() {
	if v.taken < 0 || !v.returns() {
		return
	}
	select {
	case <-v.fed:
	case <-time.After(restGrace):
		return
	}
	if v.taken > v.read {
		return // nonsense
	}
	if _, err := os.Stdin.Seek(v.taken-v.read, io.SeekCurrent); err != nil {
		v.log.Warnf("standard input: giving back what wasn't read: %v", err)
	}
}

// writeAll writes to all at the same time, so that none waits for another to
// get what has been read. It returns those that go on reading.
func writeAll(to []io.WriteCloser, p []byte) []io.WriteCloser {
	if len(p) == 0 {
		return to
	}
	var wg sync.WaitGroup
	gone := make([]bool, len(to))
	for i, f := range to {
		wg.Go(func() {
			_, err := f.Write(p)
			gone[i] = err != nil
		})
	}
	wg.Wait()
	for i, f := range to {
		if gone[i] {
			_ = f.Close()
			to[i] = nil
		}
	}
	return slices.DeleteFunc(to, func(f io.WriteCloser) bool { return f == nil })
}

// typed reads what is typed, while we are in the foreground: to read in the
// background would stop us.
func (v *supervisor) typed(buf []byte) (int, error) {
	const look = 100 * time.Millisecond
	tty := int(os.Stdin.Fd())
	fds := []unix.PollFd{{Fd: int32(tty), Events: unix.POLLIN}}
	for {
		select {
		case <-v.done:
			return 0, io.EOF
		default:
		}
		fg, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
		if err != nil {
			return 0, err
		}
		if fg != unix.Getpgrp() {
			time.Sleep(look)
			continue
		}
		if n, err := unix.Poll(fds, int(look.Milliseconds())); n == 0 || err == unix.EINTR {
			continue
		}
		return os.Stdin.Read(buf)
	}
}
