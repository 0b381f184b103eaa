package rendezvous

import "unsafe"

// addressOf is where memory lies. Go's collector moves no heap memory.
func addressOf(mem []byte) uint64 { return pointerAddress(unsafe.SliceData(mem)) }

func pointerAddress(p *byte) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }
