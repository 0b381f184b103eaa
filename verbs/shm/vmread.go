//go:build linux

package shm

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	errOutside = errors.New("shm: outside the peer's memory")
	errGone    = errors.New("shm: the peer's process is gone")
)

const nonceOff = headerOff + int(unsafe.Offsetof(header{}.nonce))

// probeVM finds out whether process_vm_readv works on the peer and reads what it
// should. The process id is the socket's, not the peer's word; the nonce shows
// that it means the owner of the segment here too, whatever the pid namespaces.
func (l *link) probeVM() {
	if l.pid == 0 {
		return
	}
	fd, err := unix.PidfdOpen(l.pid, 0)
	if err != nil {
		return
	}
	l.pidFD = fd
	l.vm = true
	var got [8]byte
	n, err := l.readVM(got[:], l.hello.NonceAddr)
	l.vm = err == nil && n == len(got) && binary.LittleEndian.Uint64(got[:]) == l.hello.Nonce &&
		l.header.nonce == l.hello.Nonce
}

// gone says whether the peer's process has ended.
func (l *link) gone() bool {
	p := [1]unix.PollFd{{Fd: int32(l.pidFD), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(p[:], 0)
		if err != unix.EINTR { // which says nothing, and n is -1
			return n != 0
		}
	}
}

// readVM fills dst from the peer's memory by one system call. A process that
// has ended is not read: its number may be another's.
func (l *link) readVM(dst []byte, addr uint64) (int, error) {
	if l.gone() {
		return 0, errGone
	}
	done := 0
	for done < len(dst) {
		local := [1]unix.Iovec{{Base: &dst[done]}}
		local[0].SetLen(len(dst) - done)
		remote := [1]unix.RemoteIovec{{Base: uintptr(addr) + uintptr(done), Len: len(dst) - done}}
		n, errno := processVMReadv(l.pid, &local[0], &remote[0])
		if errno == unix.EINTR {
			continue
		}
		if errno == unix.EFAULT {
			return done, errOutside
		}
		if errno != 0 {
			return done, errno
		}
		if n <= 0 {
			return done, errOutside
		}
		done += n
	}
	return done, nil
}
