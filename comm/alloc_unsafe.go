package comm

import (
	"unsafe"
)

// Alloc returns n zeroed elements in memory that other ranks of the host read
// without a copy in between: the fastest buffer for large messages. They live
// until Free or the world's end. Where there is no such memory it is ordinary
// memory, and that is counted ("alloc.ordinary" in World.Info).
func Alloc[T any](c *Comm, n int) []T {
	w := c.world
	var t T
	size := int(unsafe.Sizeof(t))
	if _, err := rawBytes[T](w, nil); err != nil {
		panic(c.fail("Alloc", noPeer, 0, nil, err))
	}
	w.eng.Lock()
	defer w.eng.Unlock()
	if a := w.allocator(); a != nil && n > 0 && n <= (1<<62)/size {
		if mem, err := a.Alloc(n * size); err == nil {
			return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
		}
	}
	w.count.OrdinaryAllocs++
	return make([]T, n)
}

// Free gives back what Alloc returned. No operation may use it.
func Free[T any](c *Comm, s []T) {
	if len(s) == 0 {
		return
	}
	w := c.world
	var t T
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(t)))
	w.eng.Lock()
	defer w.eng.Unlock()
	if a := w.allocator(); a != nil {
		_ = a.Free(mem) // an error: it was ordinary memory
	}
}
