package progress

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// sleeper holds the epoll sets. Inner has the wake descriptors of all devices
// and the engine's own; Go's poller doesn't know it. Outer is known to Go's
// poller, and has inner in it only while the driver sleeps.
type sleeper struct {
	inner int
	outer *nest
	begin func() bool // hangs inner into outer
	buf   [8]byte     // for reading bell; the lock is held
	bell  int         // an eventfd: wakes the driver for things that no device tells
}

func (s *sleeper) open() (err error) {
	s.inner, s.bell = -1, -1
	if s.inner, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("progress: epoll_create: %w", err)
	}
	if s.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		s.close()
		return fmt.Errorf("progress: eventfd: %w", err)
	}
	if err = s.addFDs([]int{s.bell}); err != nil {
		s.close()
		return err
	}
	if s.outer, err = newNest(); err != nil {
		s.close()
		return err
	}
	s.begin = func() bool { return s.outer.hang(s.inner) == nil }
	return nil
}

func (s *sleeper) close() {
	if s.outer != nil {
		_ = s.outer.file.Close()
	}
	for _, fd := range []int{s.inner, s.bell} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	s.inner, s.bell, s.outer = -1, -1, nil
}

// add puts a device's wake descriptors into the inner set.
func (s *sleeper) add(d verbs.Device) error { return s.addFDs(d.WakeFDs()) }

// addFDs adds descriptors, level-triggered.
func (s *sleeper) addFDs(fds []int) error {
	for _, fd := range fds {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err := unix.EpollCtl(s.inner, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return fmt.Errorf("progress: adding a wake descriptor: %w", err)
		}
	}
	return nil
}

// nest is an epoll set that Go's poller watches.
type nest struct {
	file *os.File
	raw  syscall.RawConn
	fd   int

	// Of the one goroutine that waits. They are kept here, and step is made
	// once, so that waiting allocates nothing.
	begin func() bool
	begun bool
	step  func(uintptr) bool
}

func newNest() (*nest, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("progress: epoll_create: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("progress: epoll: %w", err)
	}
	n := &nest{file: os.NewFile(uintptr(fd), "verbena-wake"), fd: fd}
	if n.raw, err = n.file.SyscallConn(); err != nil {
		_ = n.file.Close()
		return nil, fmt.Errorf("progress: epoll: %w", err)
	}
	n.step = n.look
	return n, nil
}

// hang adds inner to the nest, so that its events wake whoever waits; unhang
// takes it out.
func (n *nest) hang(inner int) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(inner)}
	return unix.EpollCtl(n.fd, unix.EPOLL_CTL_ADD, inner, &ev)
}

func (n *nest) unhang(inner int) {
	_ = unix.EpollCtl(n.fd, unix.EPOLL_CTL_DEL, inner, nil)
}

// wait parks the goroutine in Go's poller until the nest has an event. Begin is
// called when an event can't be missed any more; if it returns false, wait
// returns at once.
func (n *nest) wait(begin func() bool) error {
	n.begin, n.begun = begin, false
	return n.raw.Read(n.step)
}

// look is called by Go's poller, first when it is ready for events and then after
// each. It says whether to return from wait.
func (n *nest) look(uintptr) bool {
	if n.begun {
		return true
	}
	n.begun = true
	return !n.begin()
}

// sleepOnDescriptors is sleep.
func (e *Engine) sleepOnDescriptors(ctx context.Context, w *Waiter) error {
	if !e.armAll(verbs.Any) {
		return nil
	}
	e.count.Sleeps++
	e.asleep = true
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, e.kickSleeper)
	}
	e.mu.Unlock()
	err := e.sleeper.outer.wait(e.sleeper.begin)
	e.sleeper.outer.unhang(e.sleeper.inner)
	if stop != nil {
		stop()
	}
	e.mu.Lock()
	e.asleep = false
	e.resumeBackground()
	e.sleeper.unkick()
	e.armAll(verbs.None)
	e.count.Wakes++
	if err != nil {
		return fmt.Errorf("progress: sleeping: %w", err)
	}
	if w.Left <= 0 {
		return nil
	}
	return ctx.Err()
}

// kickSleeper is kick for those who don't hold the lock, and may come late: the
// descriptor can be closed by then, and its number another file's.
func (e *Engine) kickSleeper() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asleep {
		e.kick()
	}
}

// oneKick is what kick writes. Nobody changes it.
var oneKick = [8]byte{1}

func (s *sleeper) kick() { _, _ = unix.Write(s.bell, oneKick[:]) }

func (s *sleeper) unkick() { _, _ = unix.Read(s.bell, s.buf[:]) }

// yieldThread gives the core to another process that wants it. It is a raw call:
// of another one that takes long the runtime takes the processor away and gives it
// to another thread, which goes on with this goroutine when the call is over. The
// loop around it can be preempted.
func yieldThread() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
