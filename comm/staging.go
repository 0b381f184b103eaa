package comm

import (
	"math/bits"
)

// What is sent with a layout is packed: up to the eager limit into scratch memory, above
// it into staging memory, which is offered to the receiver. Where there is memory that
// peers read directly (comm.Alloc's), staging is made of it, which spares the sender's
// second copy. It is kept for later messages: new memory must be cleared, mapped and,
// on some devices, registered.

// Staging memory that is kept for later: so many pieces, so many bytes.
const (
	stagingPieces = 16
	stagingBytes  = 64 << 20
)

// pack returns memory with the message of a view. It is given back with
// unpacked.
func (w *World) pack(v *view) (*scratch, error) {
	if v.places == nil {
		s := w.scratch(v.length)
		copy(s.b, v.buf)
		return s, nil
	}
	if v.length <= w.limit {
		s := w.scratch(v.length)
		v.pack(s.b)
		return s, nil
	}
	w.eng.Lock()
	if w.closed {
		w.eng.Unlock()
		return nil, ErrClosed
	}
	s := w.stage(v.length)
	w.packing.Add(1)
	w.eng.Unlock()
	// Without the lock: others go on. The world waits for it before it unmaps the memory.
	v.pack(s.b)
	w.packing.Done()
	return s, nil
}

// unpacked gives memory back that pack or stage has returned, after an operation that
// has ended with err. The lock is held.
func (w *World) unpacked(s *scratch, err error) {
	switch {
	case s.staging:
		w.unstage(s)
	case err == nil: // else a device may still have it
		w.drop(s)
	}
}

// stage returns staging memory for n bytes. The lock is held, and the world isn't
// closed.
func (w *World) stage(n int) *scratch {
	best := -1
	for i, s := range w.stagings {
		if size := cap(s.b); size >= n && size/4 <= n && (best < 0 || size < cap(w.stagings[best].b)) {
			best = i
		}
	}
	if best >= 0 {
		s := w.stagings[best]
		last := len(w.stagings) - 1
		w.stagings[best], w.stagings[last] = w.stagings[last], nil
		w.stagings = w.stagings[:last]
		w.stagingIdle -= cap(s.b)
		s.b = s.b[:n]
		return s
	}
	s := &scratch{staging: true}
	size := stagingSize(n)
	if a := w.allocator(); a != nil {
		if mem, err := a.Alloc(size); err == nil {
			s.b, s.mapped = mem[:n], true
			return s
		}
	}
	s.b = make([]byte, n, size)
	return s
}

// stagingSize rounds up, so that messages of about the same length use the same memory:
// to an eighth of the power of two below.
func stagingSize(n int) int {
	step := max(1<<bits.Len(uint(n))>>4, 4096)
	if n > 1<<62 {
		return n
	}
	return (n + step - 1) / step * step
}

// unstage gives staging memory back: no device and no peer uses it. The lock is held.
func (w *World) unstage(s *scratch) {
	if w.closed {
		return // it ends with the device
	}
	if len(w.stagings) < stagingPieces && w.stagingIdle+cap(s.b) <= stagingBytes {
		w.stagings = append(w.stagings, s)
		w.stagingIdle += cap(s.b)
		return
	}
	if s.mapped {
		// Every piece was allocated here: that it can't be freed can't be.
		_ = w.allocator().Free(s.b)
	}
	s.b = nil
}
