package comm

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

// types remembers which element types can be sent. The type seen last at a slot
// is found by one load; the others in a map.
type types struct {
	// good holds type words. Written by whoever has checked a type, read by
	// all: a word that is found was good for whoever stored it.
	good [64]atomic.Uintptr
	bad  sync.Map // type word → error

	checked bool     // Config.CheckTypes: every call asks learn
	kinds   sync.Map // then, type word → *kind
}

// known says whether the type with this word was seen, and is good.
func (c *types) known(word uintptr) bool { return c.slot(word).Load() == word }

func (c *types) slot(word uintptr) *atomic.Uintptr { return &c.good[word>>5%uintptr(len(c.good))] }

// learn checks a type that known doesn't know. Where types are compared that is every
// type, each time, and the error of a good one is errChecked.
func (c *types) learn(word uintptr, t reflect.Type) error {
	if err, ok := c.bad.Load(word); ok {
		return err.(error)
	}
	if err := checkType(t); err != nil {
		c.bad.Store(word, err)
		return err
	}
	if c.checked {
		if _, ok := c.kinds.Load(word); !ok {
			c.kinds.Store(word, newKind(t))
		}
		return errChecked
	}
	c.slot(word).Store(word)
	return nil
}

func checkType(t reflect.Type) error {
	if t.Size() == 0 {
		return fmt.Errorf("%w: %v has no size", ErrType, t)
	}
	if where := pointerIn(t); where != "" {
		return fmt.Errorf("%w: %v has pointers (%s)", ErrType, t, where)
	}
	return nil
}

// pointerIn says where in t there is a pointer, or "".
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return ""
	case reflect.Array:
		if t.Len() == 0 {
			return ""
		}
		return pointerIn(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if where := pointerIn(f.Type); where != "" {
				return f.Name + ": " + where
			}
		}
		return ""
	}
	return t.String()
}
