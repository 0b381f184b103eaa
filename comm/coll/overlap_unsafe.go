package coll

import "unsafe"

// place is where a buffer lies.
type place struct{ from, to uintptr }

func placeOf[T any](buf []T) place {
	var t T
	from := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	return place{from, from + uintptr(len(buf))*unsafe.Sizeof(t)}
}

func (p place) empty() bool { return p.from == p.to }

// meets says whether the buffers have a byte in common.
func (p place) meets(q place) bool {
	return !p.empty() && !q.empty() && p.from < q.to && q.from < p.to
}
