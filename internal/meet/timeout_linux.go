package meet

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// userTimeout bounds how long what was sent may be unacknowledged: keepalive doesn't
// look at a connection on which something is under way. A socket that refuses goes
// without.
func (w *tcp) userTimeout(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(w.silence.Milliseconds()))
	})
}
