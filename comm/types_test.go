package comm

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

type (
	plain  struct{ A, B int32 }
	nested struct {
		P [3]plain
		F float64
	}
	padded struct {
		A byte
		B int64
	}
	generic[T any] struct{ V T }
	empty          struct{}
	inside         struct {
		N    int
		Deep struct{ List [2]struct{ S []byte } }
	}
	zeroArray struct {
		N int
		P [0]*int
	}
	blank struct {
		_ *int
		N int
	}
)

func TestTypes(t *testing.T) {
	for _, v := range []struct {
		typ  reflect.Type
		want string // what the error says; "": the type can be sent
	}{
		{reflect.TypeFor[byte](), ""},
		{reflect.TypeFor[bool](), ""},
		{reflect.TypeFor[int](), ""},
		{reflect.TypeFor[uintptr](), ""},
		{reflect.TypeFor[float32](), ""},
		{reflect.TypeFor[complex128](), ""},
		{reflect.TypeFor[[4]float64](), ""},
		{reflect.TypeFor[plain](), ""},
		{reflect.TypeFor[nested](), ""},
		{reflect.TypeFor[padded](), ""},
		{reflect.TypeFor[generic[int16]](), ""},
		{reflect.TypeFor[zeroArray](), ""},
		{reflect.TypeFor[empty](), "has no size"},
		{reflect.TypeFor[[0]int](), "has no size"},
		{reflect.TypeFor[string](), "string has pointers"},
		{reflect.TypeFor[*int](), "has pointers"},
		{reflect.TypeFor[[]byte](), "has pointers"},
		{reflect.TypeFor[any](), "has pointers"},
		{reflect.TypeFor[error](), "has pointers"},
		{reflect.TypeFor[map[int]int](), "has pointers"},
		{reflect.TypeFor[chan int](), "has pointers"},
		{reflect.TypeFor[func()](), "has pointers"},
		{reflect.TypeFor[unsafe.Pointer](), "has pointers"},
		{reflect.TypeFor[[2]string](), "has pointers"},
		{reflect.TypeFor[generic[*int]](), "V: *int"},
		{reflect.TypeFor[inside](), "Deep: List: S: []uint8"},
		{reflect.TypeFor[blank](), "_: *int"},
	} {
		err := checkType(v.typ)
		if (err == nil) != (v.want == "") {
			t.Errorf("%v: %v", v.typ, err)
		}
		if err != nil && (!errors.Is(err, ErrType) || !strings.Contains(err.Error(), v.want) || !strings.Contains(err.Error(), v.typ.String())) {
			t.Errorf("%v: %v; want the type and %q", v.typ, err, v.want)
		}
	}
}

// Different types have different words, named ones too, and a type's word is
// always the same.
func TestTypeWords(t *testing.T) {
	type local int64
	words := map[uintptr]string{}
	for name, w := range map[string]uintptr{
		"int64": typeWord[int64](), "uint64": typeWord[uint64](), "local": typeWord[local](), "[8]byte": typeWord[[8]byte](),
		"plain": typeWord[plain](), "generic[int64]": typeWord[generic[int64]](), "generic[local]": typeWord[generic[local]](),
		"*int64": typeWord[*int64](), "[]byte": typeWord[[]byte](),
	} {
		if other, ok := words[w]; ok {
			t.Errorf("%s and %s have the same word", name, other)
		}
		words[w] = name
	}
	for range 3 {
		if w := typeWord[plain](); words[w] != "plain" {
			t.Errorf("the word of a type changes: %#x is that of %q", w, words[w])
		}
	}
}

// More types than there are places for are all told apart, from many goroutines:
// a bad one is never taken for a good one.
func TestTypesSideBySide(t *testing.T) {
	w := &World{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				for _, err := range []error{
					bytesError[byte](w), bytesError[int16](w), bytesError[plain](w), bytesError[nested](w), bytesError[[1]int](w),
					bytesError[[2]int](w), bytesError[[3]int](w), bytesError[[4]int](w), bytesError[generic[int8]](w), bytesError[generic[uint8]](w),
				} {
					if err != nil {
						t.Error(err)
						return
					}
				}
				for _, err := range []error{
					bytesError[string](w), bytesError[*int](w), bytesError[inside](w), bytesError[empty](w), bytesError[[1]string](w),
					bytesError[[2]string](w), bytesError[generic[string]](w), bytesError[generic[[]int]](w),
				} {
					if !errors.Is(err, ErrType) {
						t.Errorf("a bad type: %v", err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func bytesError[T any](w *World) error {
	b, err := bytesOf(w, make([]T, 3))
	if err == nil && len(b) != 3*int(unsafe.Sizeof(*new(T))) {
		return errors.New("the memory has another size")
	}
	return err
}

// The memory of a slice is the slice's own, whatever its type; of none it is none.
func TestBytesOf(t *testing.T) {
	w := &World{}
	s := []plain{{1, 2}, {3, 4}}
	b, err := bytesOf(w, s)
	if err != nil || len(b) != 16 || unsafe.Pointer(&b[0]) != unsafe.Pointer(&s[0]) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	b[4] = 9
	if s[0].B != 9 {
		t.Error("a copy")
	}
	for _, s := range [][]plain{nil, {}, s[:0], s[2:]} {
		if b, err := bytesOf(w, s); err != nil || len(b) != 0 {
			t.Errorf("%d bytes of an empty slice, %v", len(b), err)
		}
	}
}

func TestCount(t *testing.T) {
	if n, err := Count[int32](Status{Bytes: 12}); n != 3 || err != nil {
		t.Error(n, err)
	}
	if n, err := Count[nested](Status{}); n != 0 || err != nil {
		t.Error(n, err)
	}
	if _, err := Count[int64](Status{Bytes: 12}); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	if _, err := Count[empty](Status{Bytes: 12}); !errors.Is(err, ErrType) {
		t.Error(err)
	}
}
