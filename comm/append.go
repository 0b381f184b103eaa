package comm

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// RecvAppend receives a message of any length: its elements are appended to buf,
// which grows only if it has too little room, and the result is returned. A nil
// buf makes a new slice. buf's memory must not be touched until then.
//
// It may be called concurrently. Errors are those of [Recv], but no message is too
// long; buf is returned as it was. A message that is no whole number of elements
// is an error, ErrType, and is lost.
func RecvAppend[T any](ctx context.Context, c *Comm, buf []T, peer, tag int) ([]T, Status, error) {
	w := c.world
	b, err := bytesOf(w, buf)
	kind, err := w.types.kind(elemOf[T](), err)
	if err != nil {
		return buf, Status{}, c.fail("RecvAppend", peer, tag, b, err)
	}
	status, u, err := c.claim(ctx, "RecvAppend", peer, tag)
	if err != nil {
		return buf, status, err
	}
	n, odd := Count[T](status)
	if odd == nil && n > math.MaxInt/2-len(buf) {
		odd = fmt.Errorf("%w: %d elements", ErrTruncated, n)
	}
	var longer []T
	var room []byte
	if odd == nil {
		longer = slices.Grow(buf, n)[:len(buf)+n]
		room, _ = bytesOf(w, longer[len(buf):])
	}
	w.eng.Lock()
	defer w.eng.Unlock()
	taken, err := c.take("RecvAppend", &view{buf: room, kind: kind}, status, u)
	switch {
	case odd != nil:
		return buf, status, c.fail("RecvAppend", status.Source, status.Tag, room, odd)
	case err != nil:
		return buf, taken, err
	}
	return longer, taken, nil
}
