package comm

import (
	"reflect"
	"unsafe"
)

// bytesOf returns the memory of buf, and an error if T can't be sent: if it has pointers,
// or no size. Where element types are compared, the error of others is errChecked.
func bytesOf[T any](w *World, buf []T) ([]byte, error) {
	var t T
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*int(unsafe.Sizeof(t)))
	if word := typeWord[T](); !w.types.known(word) {
		return b, w.types.learn(word, reflect.TypeFor[T]())
	}
	return b, nil
}

// rawBytes is bytesOf for what isn't compared with another rank's.
func rawBytes[T any](w *World, buf []T) ([]byte, error) {
	b, err := bytesOf(w, buf)
	if err == errChecked {
		err = nil
	}
	return b, err
}

// elem is the element type of a buffer.
type elem struct {
	word uintptr // see typeWord
	size int
}

func elemOf[T any]() elem {
	var t T
	return elem{typeWord[T](), int(unsafe.Sizeof(t))}
}

// typeWord identifies T: the address of its run-time type.
func typeWord[T any]() uintptr {
	var e any = (*T)(nil)
	return (*[2]uintptr)(unsafe.Pointer(&e))[0]
}
