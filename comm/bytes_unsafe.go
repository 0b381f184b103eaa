package comm

import (
	"reflect"
	"unsafe"
)

// bytesOf returns the memory of buf. It checks T: pointer-free, and of a size.
func bytesOf[T any](w *World, buf []T) ([]byte, error) {
	var t T
	if word := typeWord[T](); !w.types.known(word) {
		if err := w.types.learn(word, reflect.TypeFor[T]()); err != nil {
			return nil, err
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*int(unsafe.Sizeof(t))), nil
}

// elemSize is the size of a T.
func elemSize[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// typeWord identifies T: the address of its run-time type.
func typeWord[T any]() uintptr {
	var e any = (*T)(nil)
	return (*[2]uintptr)(unsafe.Pointer(&e))[0]
}
