//go:build linux

package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the data path. They never wait, and copy no more than a part of a
// read (maxData): so they are raw ones, of which the runtime isn't told. An interrupted
// call counts as one that found nothing.

// vec is what one call gathers or scatters. It is kept, so that nothing is allocated.
type vec struct {
	bufs [5][]byte
	n    int
	iov  [5]unix.Iovec
	msg  unix.Msghdr
}

func (v *vec) add(p []byte) {
	if len(p) > 0 {
		v.bufs[v.n] = p
		v.n++
	}
}

// fill makes the iovecs.
func (v *vec) fill() {
	for i, p := range v.bufs[:v.n] {
		v.iov[i].Base = unsafe.SliceData(p)
		v.iov[i].SetLen(len(p))
	}
}

// clear forgets the memory.
func (v *vec) clear() {
	clear(v.bufs[:v.n])
	clear(v.iov[:v.n])
	v.n = 0
}

// send is sendmsg.
func (v *vec) send(fd int) (int, error) {
	v.fill()
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(v.n)
	r, _, e := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if e != 0 {
		return 0, notYet(e)
	}
	return int(r), nil
}

// recv is readv. end says that the peer's side of the stream is over.
func (v *vec) recv(fd int) (n int, end bool, err error) {
	v.fill()
	r, _, e := unix.RawSyscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&v.iov[0])), uintptr(v.n))
	if e != 0 {
		return 0, false, notYet(e)
	}
	return int(r), r == 0, nil
}

func send(fd int, p []byte) (int, error) {
	r, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
	if e != 0 {
		return 0, notYet(e)
	}
	return int(r), nil
}

func recv(fd int, p []byte) (n int, end bool, err error) {
	r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		unix.MSG_DONTWAIT, 0, 0)
	if e != 0 {
		return 0, false, notYet(e)
	}
	return int(r), r == 0, nil
}

// notYet is nil for what passes.
func notYet(e unix.Errno) error {
	if e == unix.EAGAIN || e == unix.EINTR {
		return nil
	}
	return e
}

// epollLook is epoll_wait without waiting.
func epollLook(fd int, events []unix.EpollEvent) int {
	r, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(events))),
		uintptr(len(events)), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(r)
}

func address(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

// one is send, by the cheaper call where one slice is all.
func (v *vec) one(fd int) (int, error) {
	if v.n == 1 {
		return send(fd, v.bufs[0])
	}
	return v.send(fd)
}
