package doctor

import "unsafe"

// addressOf is where a slice lies: for another process, which is to read it there.
func addressOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(&mem[0])) }
