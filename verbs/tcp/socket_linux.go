package tcp

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// options sets what each socket of a link needs.
func (c *Config) options(fd int) error {
	idle, interval, count := keepalive(c.Timeout)
	for _, o := range []struct {
		name              string
		level, key, value int
	}{
		{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, idle},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, interval},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, count},
		// With this the count above doesn't matter: an idle connection ends when
		// this has passed and a probe is unanswered.
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(c.Timeout.Milliseconds())},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.key, o.value); err != nil {
			return fmt.Errorf("tcp: %s %d: %w", o.name, o.value, err)
		}
	}
	return c.congestion(fd)
}

// keepalive are the seconds after which an idle connection is probed, those between
// probes, and how many go unanswered before the connection counts as dead.
func keepalive(timeout time.Duration) (idle, interval, count int) {
	seconds := int((timeout + time.Second - 1) / time.Second)
	idle = min(max(seconds/3, 1), 32767)
	interval = min(max(seconds/10, 1), 32767)
	count = min(max((seconds-idle+interval-1)/interval, 1), 127)
	return idle, interval, count
}

func (c *Config) congestion(fd int) error {
	if c.Congestion == "" {
		return nil
	}
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, c.Congestion)
	if err == nil {
		return nil
	}
	list, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	return fmt.Errorf("tcp: congestion control %q: %w; there are: %s", c.Congestion, err, strings.TrimSpace(string(list)))
}

// beforeConnect is for net.Dialer. A port is chosen when it is known whom for: so
// there are enough of them for any number of peers.
func (c *Config) beforeConnect(_, _ string, raw syscall.RawConn) error {
	return control(raw, func(fd int) error {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		return c.options(fd)
	})
}

func control(raw syscall.RawConn, f func(fd int) error) error {
	var err error
	if cerr := raw.Control(func(fd uintptr) { err = f(int(fd)) }); cerr != nil {
		return cerr
	}
	return err
}

// copyFD copies a connection's descriptor. The copy is registered in no poller; that it
// doesn't wait is the socket's property, and so the copy's too. It is made before
// anything is promised to the peer: there may be no descriptors.
func copyFD(c net.Conn) (int, error) {
	if g, ok := c.(*guest); ok {
		c = g.Conn
	}
	t, ok := c.(*net.TCPConn)
	if !ok {
		return -1, fmt.Errorf("tcp: no socket: %T", c)
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	err = control(raw, func(old int) (err error) {
		fd, err = unix.FcntlInt(uintptr(old), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	return fd, err
}
