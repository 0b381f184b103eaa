//go:build linux

package shm

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// bell is a doorbell: a word that says what its owner sleeps for, and an eventfd
// that wakes it.
type bell struct {
	buf   [8]byte // for reading fd: on a stack it would escape under the race detector
	armed *atomic.Uint32
	fd    int
	set   bool // the owner armed it and has not cleared the eventfd since
}

// oneRing is what ring writes. Nobody changes it.
var oneRing = [8]byte{1}

// arm stores what the owner sleeps for, and clears an old ring.
func (b *bell) arm(ev verbs.Event) {
	if b.set && b.armed.Load() == uint32(verbs.None) {
		// Somebody rang, or is about to; a ring that comes after this read
		// costs one needless wake-up.
		if _, err := unix.Read(b.fd, b.buf[:]); err == nil {
			b.set = false
		}
	}
	if ev != verbs.None {
		b.set = true
	}
	b.armed.Store(uint32(ev))
}

// ring wakes the owner, if it sleeps and nobody else has rung.
func (b *bell) ring() {
	a := b.armed.Load()
	if a == uint32(verbs.None) || !b.armed.CompareAndSwap(a, uint32(verbs.None)) {
		return
	}
	// It can only fail when 2⁶⁴−2 rings have not been read.
	_, _ = unix.Write(b.fd, oneRing[:])
}
