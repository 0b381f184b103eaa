package verbstest

import "unsafe"

// aligned8 says whether p begins at a multiple of 8.
func aligned8(p []byte) bool {
	return len(p) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(p)))%8 == 0
}

// aligned64 says whether p begins at a multiple of 64.
func aligned64(p []byte) bool {
	return len(p) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(p)))%64 == 0
}
