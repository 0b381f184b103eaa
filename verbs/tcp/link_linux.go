package tcp

import (
	"io"

	"golang.org/x/sys/unix"
)

// link is a connection to a peer's device that has proved the job's secret and has
// said which queue pair it is for. Whoever has it owns the descriptor. Its calls
// are serialised by the caller, and none of them waits.
type link struct {
	fd            int     // non-blocking, close-on-exec, and unknown to Go's poller
	tls           *secure // nil: plain; else bytes go through read, write and flush only
	peer          deviceID
	local, remote uint32 // labels, as in QP.Connect, seen from here
	rail          int    // 0: the queue pair's own; further ones carry read responses
	dialed        bool
	via           string // "10.77.2.11:41234 over eth0": the peer's end, and this side's interface
}

// read takes what has arrived. Less than was asked for, and no error, means that
// nothing more is here: wait for the socket. The end of the stream is io.EOF.
func (l *link) read(p []byte) (n int, err error) {
	if l.tls != nil {
		return l.tls.read(p)
	}
	return readFD(l.fd, p)
}

// write gives away as much as there is room for. Less than was asked for, and no
// error, means that there is none: wait for the socket.
func (l *link) write(p []byte) (n int, err error) {
	if l.tls != nil {
		return l.tls.write(p)
	}
	return send(l.fd, p)
}

// unsent says that bytes have not left yet that write has taken, or that the session
// has to say after a read: flush when the socket has room. Plain links never have any.
func (l *link) unsent() bool { return l.tls != nil && l.tls.wire.unsent() > 0 }

// flush gives away what is unsent, as far as there is room.
func (l *link) flush() error {
	if l.tls == nil {
		return nil
	}
	return l.tls.wire.flush()
}

// close closes the descriptor. What was written and flushed still arrives.
func (l *link) close() error {
	if l.fd < 0 {
		return nil
	}
	fd := l.fd
	l.fd = -1
	return unix.Close(fd)
}

// readFD takes what has arrived: a stream gives all that it has in one call.
func readFD(fd int, p []byte) (int, error) {
	n, end, err := recv(fd, p)
	if end && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}
