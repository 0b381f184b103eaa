//go:build linux && race

package shm

import (
	"runtime"
	"sync"
	"unsafe"
)

// The race detector doesn't see mapped memory, and so takes what is ordered
// through it for races. Each ring has a word on the heap, shared by both sides
// when they are in one process, through which the detector is told.
type raceWord struct{ _ uint64 }

type raceKey struct {
	nonce uint64
	ring  uint32
}

var raceWords sync.Map // raceKey → *raceWord

func raceShadow(nonce uint64, ring uint32) *raceWord {
	w, _ := raceWords.LoadOrStore(raceKey{nonce, ring}, new(raceWord))
	return w.(*raceWord)
}

func raceRelease(w *raceWord) { runtime.RaceReleaseMerge(unsafe.Pointer(w)) }
func raceAcquire(w *raceWord) { runtime.RaceAcquire(unsafe.Pointer(w)) }
