package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

// socket is a non-blocking socket that Go's poller doesn't know.
type socket int

// connect makes the connection: rank 1 listens on all addresses, and rank 0 tries
// those that it publishes, the loopback last but where it is the only one.
func connect(ctx context.Context, job *bootstrap.Job, congestion string) (conn, error) {
	var mine []string
	var l *net.TCPListener
	if job.Rank == 1 {
		var err error
		if l, err = net.ListenTCP("tcp", nil); err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		if mine, err = addresses(l.Addr().(*net.TCPAddr).Port); err != nil {
			return nil, err
		}
	}
	all, err := job.Exchange(ctx, "addr", []byte(strings.Join(mine, " ")))
	if err != nil {
		return nil, err
	}
	if job.Rank == 1 {
		_ = l.SetDeadline(time.Now().Add(30 * time.Second))
		c, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		return bare(c, congestion)
	}
	for _, a := range strings.Fields(string(all[1])) {
		d := net.Dialer{Timeout: 2 * time.Second}
		var c net.Conn
		if c, err = d.DialContext(ctx, "tcp", a); err == nil {
			return bare(c.(*net.TCPConn), congestion)
		}
	}
	return nil, fmt.Errorf("none of %s answers: %w", all[1], err)
}

func addresses(port int) ([]string, error) {
	ifs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, loopback := range []bool{false, true} {
		for _, a := range ifs {
			if ip := a.(*net.IPNet).IP; ip.IsLoopback() == loopback && !ip.IsLinkLocalUnicast() {
				all = append(all, net.JoinHostPort(ip.String(), fmt.Sprint(port)))
			}
		}
	}
	return all, nil
}

// bare takes the socket out of Go's poller.
func bare(c *net.TCPConn, congestion string) (conn, error) {
	f, err := c.File()
	_ = c.Close()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return nil, err
	}
	if congestion != "" {
		if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion); err != nil {
			return nil, fmt.Errorf("congestion control %s: %w", congestion, err)
		}
	}
	return socket(fd), nil
}

func (s socket) close() { _ = unix.Close(int(s)) }

func (s socket) sendAll(p []byte) error {
	for len(p) > 0 {
		n, errno := s.write(p[:min(len(p), atOnce)])
		switch errno {
		case 0:
			p = p[n:]
		case syscall.EAGAIN, syscall.EINTR:
		default:
			return errno
		}
	}
	return nil
}

func (s socket) recvAll(p []byte) error {
	for len(p) > 0 {
		n, errno := s.read(p[:min(len(p), atOnce)])
		switch {
		case errno == syscall.EAGAIN || errno == syscall.EINTR:
		case errno != 0:
			return errno
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			p = p[n:]
		}
	}
	return nil
}

// atOnce bounds what a call copies: the runtime can't stop a thread in it.
const atOnce = 1 << 20

// ownCPU is the CPU that this rank is pinned to, or -1.
func ownCPU() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil || set.Count() != 1 {
		return -1
	}
	for cpu := 0; ; cpu++ {
		if set.IsSet(cpu) {
			return cpu
		}
	}
}
