package tcp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// watched says whether an epoll set of this process, Go's poller among them, has the
// socket in it.
func watched(t *testing.T, fd int) bool {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		t.Fatal(err)
	}
	sets := 0
	inode := fmt.Sprintf("ino:%x ", st.Ino)
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); to != "anon_inode:[eventpoll]" {
			continue
		}
		sets++
		info, err := os.ReadFile("/proc/self/fdinfo/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(info), inode) {
			return true
		}
	}
	if sets == 0 {
		t.Fatal("no epoll set is found: the runtime has one")
	}
	return false
}

// The descriptor of a link is non-blocking, close-on-exec and in nobody's poller, and
// the socket has what Config asks for.
func TestSocket(t *testing.T) {
	for _, c := range []struct {
		timeout                     time.Duration
		idle, interval, count, user int
	}{
		{0, 3, 1, 7, 10_000},
		{3 * time.Second, 1, 1, 2, 3000},
		{500 * time.Millisecond, 1, 1, 1, 500},
		{time.Minute, 20, 6, 7, 60_000},
		{24 * time.Hour, 28800, 8640, 7, 86_400_000},
	} {
		t.Run(c.timeout.String(), func(t *testing.T) {
			cfg := Config{Secret: secret.New(), Net: "lo", Timeout: c.timeout, Congestion: "reno"}
			a, b := opened(t, cfg, accepts), opened(t, cfg, accepts)
			for _, l := range []*link{a.dialed(t, b, 0), b.taken(t)} {
				if flags, err := unix.FcntlInt(uintptr(l.fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK == 0 {
					t.Errorf("dialed %v: flags %#x, %v: not non-blocking", l.dialed, flags, err)
				}
				if flags, err := unix.FcntlInt(uintptr(l.fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
					t.Errorf("dialed %v: flags %#x, %v: not close-on-exec", l.dialed, flags, err)
				}
				if watched(t, l.fd) {
					t.Errorf("dialed %v: a poller still has the socket", l.dialed)
				}
				for _, o := range []struct {
					name       string
					level, key int
					want       int
				}{
					{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
					{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
					{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, c.idle},
					{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, c.interval},
					{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, c.count},
					{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, c.user},
				} {
					if got, err := unix.GetsockoptInt(l.fd, o.level, o.key); err != nil || got != o.want {
						t.Errorf("dialed %v: %s is %d, %v; expected %d", l.dialed, o.name, got, err, o.want)
					}
				}
				if got, err := unix.GetsockoptString(l.fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || got != "reno" {
					t.Errorf("dialed %v: congestion control %q, %v", l.dialed, got, err)
				}
				if !strings.HasSuffix(l.via, " over lo") || !strings.HasPrefix(l.via, "127.0.0.1:") {
					t.Errorf("via %q", l.via)
				}
			}
		})
	}
}

// A connection is in Go's poller before it is a link, and not afterwards.
func TestHandover(t *testing.T) {
	e := opened(t, Config{Secret: secret.New(), Net: "lo"}, accepts)
	c, err := net.Dial("tcp", server(t, silent).String())
	if err != nil {
		t.Fatal(err)
	}
	fd, err := copyFD(c)
	if err != nil {
		t.Fatal(err)
	}
	if !watched(t, fd) {
		t.Error("a connection is in no poller: the look for it doesn't work")
	}
	l := e.link(e.cfg.meet(e.id, c), want{}, true, fd)
	defer l.close()
	if watched(t, l.fd) {
		t.Error("Go's poller still has it")
	}
	if _, err := c.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection can still be used: %v", err)
	}
}

// What is wrong with a configuration is said when the device is opened.
func TestConfigErrors(t *testing.T) {
	job := secret.New()
	for _, c := range []struct {
		name string
		cfg  Config
		want []string
	}{
		{"no secret", Config{}, []string{"secret: none is set"}},
		{"no such network", Config{Secret: job, Net: "nosuch0"}, []string{`matches "nosuch0"`, "lo 127.0.0.1/8"}},
		{"no such congestion control", Config{Secret: job, Congestion: "hope"}, []string{`"hope"`, "reno"}},
		{"a time below zero", Config{Secret: job, Timeout: -1}, []string{"Timeout -1ns"}},
		{"a time without end", Config{Secret: job, Timeout: 1 << 62}, []string{"Timeout", "24h"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := newContacts(c.cfg, accepts, func(link) {})
			if err == nil {
				got.close()
				t.Fatal("no error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q", err, w)
				}
			}
		})
	}
}
