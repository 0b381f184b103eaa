//go:build linux

package shm

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// arena is the second segment: memory that peers read directly. It is given out
// in pages; what is freed goes back to the system, and is zero when it comes
// again.
type arena struct {
	fd   int
	size int64
	mem  []byte         // mapped at the first Alloc
	free []span         // sorted, not adjacent
	used map[int64]span // by offset
}

type span struct{ off, n int64 }

func (a *arena) open(size int64) (err error) {
	a.size = size
	a.fd, err = newSegment("verbena-alloc", size)
	return err
}

func (a *arena) close() {
	if a.mem != nil {
		_ = unix.Munmap(a.mem)
	}
	if a.size != 0 && a.fd >= 0 {
		_ = unix.Close(a.fd)
	}
	a.mem, a.fd = nil, -1
}

// Alloc implements verbs.Allocator.
func (d *Device) Alloc(n int) ([]byte, error) {
	a := &d.arena
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if n < 0 {
		return nil, fmt.Errorf("%w: shm: Alloc(%d)", verbs.ErrInvalid, n)
	}
	if a.mem == nil {
		mem, err := mapSegment(a.fd, a.size, unix.PROT_READ|unix.PROT_WRITE)
		if err != nil {
			return nil, err
		}
		a.mem, a.free, a.used = mem, []span{{0, a.size}}, map[int64]span{}
	}
	need := int64(max(n, 1)+pageSize-1) &^ (pageSize - 1)
	i := slices.IndexFunc(a.free, func(s span) bool { return s.n >= need })
	if i < 0 {
		return nil, fmt.Errorf("%w: shm: Alloc of %d bytes from a segment of %d", verbs.ErrNoMemory, n, a.size)
	}
	s := span{a.free[i].off, need}
	a.free[i].off += need
	if a.free[i].n -= need; a.free[i].n == 0 {
		a.free = slices.Delete(a.free, i, i+1)
	}
	a.used[s.off] = s
	// A slice without capacity would lose its place, by which Free knows it.
	return a.mem[s.off : s.off+int64(n) : s.off+int64(max(n, 1))], nil
}

// Free implements verbs.Allocator.
func (d *Device) Free(mem []byte) error {
	a := &d.arena
	if d.closed {
		return verbs.ErrClosed
	}
	s, ok := a.used[int64(a.offset(mem))]
	if !ok {
		return fmt.Errorf("%w: shm: Free of %d bytes that Alloc did not return", verbs.ErrInvalid, len(mem))
	}
	delete(a.used, s.off)
	if err := unix.Fallocate(a.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, s.off, s.n); err != nil {
		clear(a.mem[s.off : s.off+s.n])
	}
	i, _ := slices.BinarySearchFunc(a.free, s.off, func(f span, off int64) int { return int(f.off - off) })
	a.free = slices.Insert(a.free, i, s)
	if i+1 < len(a.free) && s.off+s.n == a.free[i+1].off {
		a.free[i].n += a.free[i+1].n
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].n == s.off {
		a.free[i-1].n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
	return nil
}

// offset returns where mem lies in the arena, or -1.
func (a *arena) offset(mem []byte) int { return within(mem, a.mem) }
