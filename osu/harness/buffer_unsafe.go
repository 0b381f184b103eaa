package harness

import "unsafe"

// address is where the memory lies; only its place within a page is used.
func address(mem []byte) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
}
