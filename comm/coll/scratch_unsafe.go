package coll

import (
	"sync"
	"unsafe"
)

// scratch is memory for values that a call has no other place for. It is pooled, and
// taken for whatever type: types have no pointers, and words are aligned for all of
// them. It is ordinary memory and not comm.Alloc's, which belongs to a world and lives
// until it is freed: the collector takes back what isn't used any more.
type scratch struct{ words []uint64 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// temp returns room for n values until the end of the call. What it holds is anything.
func temp[T any](k *call, n int) []T {
	var t T
	size := n * int(unsafe.Sizeof(t))
	s := scratches.Get().(*scratch)
	if words := (size + 7) / 8; len(s.words) < words {
		s.words = make([]uint64, words)
	}
	k.scratch = append(k.scratch, s)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.words))), n)
}

// drop gives back the call's scratch memory.
func (k *call) drop() {
	for i, s := range k.scratch {
		k.scratch[i] = nil
		scratches.Put(s)
	}
}
