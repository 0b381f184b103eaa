//go:build linux

package shm

import "unsafe"

// Sizes that layout.go counts on.
var (
	_ [0]struct{} = [unsafe.Sizeof(cell{}) - pairSize]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(ring{}) - ringSize]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(region{}) - regionSize]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(line{}) - lineSize]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(pool{}) - pairSize]struct{}{}
)

// view returns the T at off in mem. It panics outside mem, as indexing does:
// offsets that come from a peer are checked before.
func view[T any](mem []byte, off int) *T {
	var t T
	_ = mem[off : off+int(unsafe.Sizeof(t))]
	return (*T)(unsafe.Pointer(&mem[off]))
}

// views returns the n Ts at off in mem.
func views[T any](mem []byte, off, n int) []T {
	var t T
	_ = mem[off : off+n*int(unsafe.Sizeof(t))]
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[off])), n)
}

func address(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

// within returns where inner begins in outer, or -1.
func within(inner, outer []byte) int {
	a, b := address(inner), address(outer)
	if len(outer) == 0 || a < b || a-b > uint64(len(outer)) || uint64(len(outer))-(a-b) < uint64(len(inner)) {
		return -1
	}
	return int(a - b)
}

// putHeader stores the 16 bytes of a protocol header as two words: a call of
// memmove is dearer.
func putHeader(dst *[cellBody]byte, src []byte) {
	s := (*[2]uint64)(unsafe.Pointer(unsafe.SliceData(src)))
	d := (*[2]uint64)(unsafe.Pointer(dst))
	d[0], d[1] = s[0], s[1]
}
