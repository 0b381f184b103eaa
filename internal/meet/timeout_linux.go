package meet

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unacknowledged is how long what was sent may stay so, in milliseconds: keepalive
// doesn't look at a connection on which something is under way.
const unacknowledged = 12_000

// userTimeout sets it on a socket. One that refuses goes without.
func userTimeout(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unacknowledged)
	})
}
