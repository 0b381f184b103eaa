package launcher

import (
	"io"
	"syscall"
)

// way is a connection to a starter, on this host or on one whose agent has started
// it.
type way struct {
	conn  io.ReadWriteCloser
	ended chan syscall.WaitStatus // of the starter; has room for it
	stop  func()                  // kills the starter
	words *starterWords
}

// newWay begins to read what the starter says.
func newWay(r reach, conn io.ReadWriteCloser, errs io.ReadCloser, ended chan syscall.WaitStatus, stop func()) *way {
	w := &way{conn: conn, ended: ended, stop: stop, words: &starterWords{idle: r.idle, ended: make(chan struct{})}}
	go w.words.read(errs)
	return w
}

// buffered is a connection of which something was read already.
type buffered struct {
	io.Reader
	io.WriteCloser
}
