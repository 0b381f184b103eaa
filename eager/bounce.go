package eager

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// bounce is the pool of send buffers, registered once, for messages that are too
// long to go inline.
type bounce struct {
	mem  []byte
	mr   verbs.MR
	size int
	free []uint32
}

// open makes the pool, for the first queue pair that doesn't take everything
// inline.
func (b *bounce) open(dev verbs.Device, n, size int) (err error) {
	if b.mem != nil {
		return nil
	}
	b.size = (size + 63) &^ 63
	b.mem = make([]byte, n*b.size)
	if b.mr, err = dev.Register(b.mem, verbs.AccessLocal); err != nil {
		return fmt.Errorf("eager: registering %d send buffers of %d bytes: %w", n, b.size, err)
	}
	for i := range n {
		b.free = append(b.free, uint32(n-1-i))
	}
	return nil
}

// get takes a buffer, or returns false.
func (b *bounce) get() (i uint32, mem []byte, ok bool) {
	if len(b.free) == 0 {
		return 0, nil, false
	}
	i = b.free[len(b.free)-1]
	b.free = b.free[:len(b.free)-1]
	return i, b.mem[int(i)*b.size:][:b.size], true
}

func (b *bounce) put(i uint32) { b.free = append(b.free, i) }
