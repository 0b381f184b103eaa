//go:build linux

package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// processVMReadv is process_vm_readv(2) of one piece into one piece. It is a raw
// call: during another one the runtime takes the processor away after 20 µs, which
// is what a piece takes, and gives it to another thread. Pieces are small enough
// for the garbage collector to wait for.
func processVMReadv(pid int, local *unix.Iovec, remote *unix.RemoteIovec) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
		uintptr(unsafe.Pointer(local)), 1, uintptr(unsafe.Pointer(remote)), 1, 0)
	return int(r), errno
}
