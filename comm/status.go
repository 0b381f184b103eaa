package comm

import (
	"fmt"
	"unsafe"
)

// Ranks and tags with a meaning of their own. -1 is none of them: rank-1 at
// rank 0 is an error, not a wildcard.
const (
	AnySource = -1 << 30   // receive from any rank
	ProcNull  = -1<<30 + 1 // no rank: sending to it and receiving from it does nothing
	AnyTag    = -1 << 30   // receive any tag
	MaxTag    = 1<<31 - 1
)

// Status describes a message that was received.
type Status struct {
	Source int
	Tag    int
	Bytes  int64 // as sent, which may be more than the buffer had room for
}

// Count is the number of whole elements of type T in the message; an error if
// its bytes are not a multiple of T's size.
func Count[T any](s Status) (int, error) {
	var t T
	size := int64(unsafe.Sizeof(t))
	if size == 0 {
		return 0, fmt.Errorf("comm: Count: %w: %T has no size", ErrType, t)
	}
	if s.Bytes%size != 0 {
		return 0, fmt.Errorf("comm: Count: %w: %d bytes are not a multiple of %T's %d", ErrType, s.Bytes, t, size)
	}
	return int(s.Bytes / size), nil
}

// Result is how one request of several ended.
type Result struct {
	Status Status
	Err    error
}
