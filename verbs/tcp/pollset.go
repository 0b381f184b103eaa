//go:build linux

package tcp

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// pollset is the device's sockets, as the kernel knows them. The inner set has them
// all, level-triggered, and the bell. The armed set has the inner one, and shows it
// only while a completion queue is armed.
type pollset struct {
	inner, armed int
	bell         int // an eventfd: for what no socket tells
	shown        bool
	rung         atomic.Bool // the bell was rung and not silenced: saves calls
	conns        []*conn     // by index
	unused       []int32
	gen          int32
	events       [64]unix.EpollEvent
}

const epollIn, epollOut uint32 = unix.EPOLLIN, unix.EPOLLOUT

// bellIndex stands for the bell in events.
const bellIndex = -1

func (p *pollset) open() (err error) {
	p.inner, p.armed, p.bell = -1, -1, -1
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.inner, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("tcp: epoll_create: %w", err)
	}
	if p.armed, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("tcp: epoll_create: %w", err)
	}
	if p.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("tcp: eventfd: %w", err)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: bellIndex}
	if err = unix.EpollCtl(p.inner, unix.EPOLL_CTL_ADD, p.bell, &ev); err != nil {
		return fmt.Errorf("tcp: epoll_ctl: %w", err)
	}
	ev = unix.EpollEvent{}
	if err = unix.EpollCtl(p.armed, unix.EPOLL_CTL_ADD, p.inner, &ev); err != nil {
		return fmt.Errorf("tcp: epoll_ctl: %w", err)
	}
	return nil
}

func (p *pollset) close() {
	for _, fd := range []*int{&p.inner, &p.armed, &p.bell} {
		if *fd >= 0 {
			_ = unix.Close(*fd)
		}
		*fd = -1
	}
}

// show makes the armed set tell of the inner one, or not.
func (p *pollset) show(on bool) {
	if on == p.shown {
		return
	}
	p.shown = on
	var ev unix.EpollEvent
	if on {
		ev.Events = unix.EPOLLIN
	}
	_ = unix.EpollCtl(p.armed, unix.EPOLL_CTL_MOD, p.inner, &ev)
}

// one is what ring writes. Nobody changes it.
var one = [8]byte{1}

// ring wakes whoever sleeps. It may be called from any goroutine until close.
func (p *pollset) ring() {
	if !p.rung.Swap(true) {
		_, _ = unix.Write(p.bell, one[:])
	}
}

// silence takes a ring back. In this order: a ring that comes in between is not lost,
// since whoever rings has noted before what it rings for.
func (p *pollset) silence() {
	if p.rung.Load() {
		var b [8]byte
		_, _ = unix.Read(p.bell, b[:])
		p.rung.Store(false)
	}
}

// add gives the connection an index; at returns it if an event is about it still.
func (p *pollset) add(c *conn) {
	if len(p.unused) == 0 {
		p.unused = append(p.unused, int32(len(p.conns)))
		p.conns = append(p.conns, nil)
	}
	c.index = p.unused[len(p.unused)-1]
	p.unused = p.unused[:len(p.unused)-1]
	p.gen++
	c.gen = p.gen
	p.conns[c.index] = c
}

func (p *pollset) at(ev *unix.EpollEvent) *conn {
	if c := p.conns[ev.Fd]; c != nil && c.gen == ev.Pad {
		return c
	}
	return nil
}

func (p *pollset) remove(c *conn) {
	p.conns[c.index] = nil
	p.unused = append(p.unused, c.index)
}

// watch changes what is asked of the kernel for a connection: from, to are sets of
// EPOLLIN and EPOLLOUT. A socket for which nothing is asked is taken out, since the
// kernel tells of errors in any case.
func (p *pollset) watch(c *conn, from, to uint32) error {
	if from == to {
		return nil
	}
	op := unix.EPOLL_CTL_MOD
	switch {
	case from == 0:
		op = unix.EPOLL_CTL_ADD
	case to == 0:
		op = unix.EPOLL_CTL_DEL
	}
	ev := unix.EpollEvent{Events: to, Fd: c.index, Pad: c.gen}
	return unix.EpollCtl(p.inner, op, c.link.fd, &ev)
}
