package comm

import "unsafe"

// scratch is memory for a message that the caller has no buffer for: a value on a
// stack, which may move, or one that is overwritten while it is sent. It is on the
// heap, and pooled in its world.
type scratch struct {
	b       []byte
	staging bool // see staging.go
	mapped  bool // of the device's
}

// scratch returns one of n bytes. It is given back with drop, unless a call that
// used it has failed: then a device may still have it.
func (w *World) scratch(n int) *scratch {
	s, _ := w.scratches.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	if cap(s.b) < n {
		s.b = make([]byte, n, max(n, 64))
	}
	s.b = s.b[:n]
	return s
}

func (w *World) drop(s *scratch) { w.scratches.Put(s) }

// valueBytes is the memory of one value. It doesn't make it escape as long as the
// result doesn't: it is for copying.
func valueBytes[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
