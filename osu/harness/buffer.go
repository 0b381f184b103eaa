package harness

import (
	"fmt"
	"os"
)

const (
	guardSize = 64
	guardByte = 0xC5
)

// buffer is memory for one message, on a page boundary and between two guards
// that nobody may write.
type buffer struct {
	raw   []byte // as allocated
	start int    // where in raw messages begin
	size  int    // of the present message
}

// newBuffer makes a buffer for messages of up to most bytes.
func newBuffer(alloc func(int) []byte, most int) buffer {
	page := os.Getpagesize()
	raw := alloc(guardSize + page + most + guardSize)
	start := guardSize
	if over := (address(raw) + guardSize) % page; over != 0 {
		start += page - over
	}
	return buffer{raw: raw, start: start}
}

// message sets the buffer to messages of size bytes and returns their memory.
// The second guard moves with the size.
func (b *buffer) message(size int) []byte {
	b.size = size
	before, after := b.guards()
	for i := range guardSize {
		before[i], after[i] = guardByte, guardByte
	}
	end := b.start + size
	return b.raw[b.start:end:end]
}

func (b *buffer) guards() (before, after []byte) {
	end := b.start + b.size
	return b.raw[b.start-guardSize : b.start], b.raw[end : end+guardSize]
}

// checkGuards says which byte outside of the message was written.
func (b *buffer) checkGuards() error {
	before, after := b.guards()
	for i := range guardSize {
		if before[guardSize-1-i] != guardByte {
			return fmt.Errorf("byte %d before the message was written", i+1)
		}
		if after[i] != guardByte {
			return fmt.Errorf("byte %d after the message was written", i+1)
		}
	}
	return nil
}
