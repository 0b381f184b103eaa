//go:build linux

package shm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// newSegment makes a nameless, sparse segment whose size can't change.
func newSegment(name string, size int64) (fd int, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("shm: memfd_create: %w", err)
	}
	if err = unix.Ftruncate(fd, size); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("shm: a segment of %d bytes: %w", size, err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("shm: sealing a segment: %w", err)
	}
	return fd, nil
}

// mapSegment maps a segment of exactly size bytes. A peer's segment must be
// sealed: one that could shrink would kill its readers.
func mapSegment(fd int, size int64, prot int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("shm: stat of a segment: %w", err)
	}
	if st.Size != size {
		return nil, fmt.Errorf("shm: a segment has %d bytes, %d were announced", st.Size, size)
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return nil, fmt.Errorf("shm: a segment is not sealed against shrinking")
	}
	mem, err := unix.Mmap(fd, 0, int(size), prot, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("shm: mapping a segment of %d bytes: %w", size, err)
	}
	// A child of fork that doesn't exec has no business here.
	_ = unix.Madvise(mem, unix.MADV_DONTFORK)
	return mem, nil
}
