package comm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"

	"github.com/verbena-mpi/verbena/eager"
)

// errChecked isn't the error of a call: it says that element types are compared, so that
// the calls that would be fast take the way of those with options.
var errChecked = errors.New("element types are compared")

// kind is an element type as the other side of a message compares it.
type kind struct {
	name string
	raw  bool // bytes: they match everything
	sum  uint64
	note []byte // what a message says of it
}

// A note: the sum, and the name as far as there is room, its end rather than its
// beginning.
//
//	sum 8, length of the name 1, name 55; a sum of 0 means bytes
const (
	noteName = 9
	nameMost = eager.NoteSize - noteName
)

func newKind(t reflect.Type) *kind {
	k := &kind{name: t.String(), note: make([]byte, eager.NoteSize)}
	unit := unitOf(t).name
	if k.raw = unit == reflect.Uint8.String(); !k.raw {
		h := fnv.New64a()
		_, _ = h.Write([]byte(unit))
		k.sum = max(h.Sum64(), 1)
	}
	name := k.name
	if over := len(name) - nameMost; over > 0 {
		name = "…" + strings.ToValidUTF8(name[over+len("…"):], "")
	}
	binary.LittleEndian.PutUint64(k.note, k.sum)
	k.note[8] = uint8(len(name))
	copy(k.note[noteName:], name)
	return k
}

// rawNote is the note of messages that no kind is known of.
var rawNote = newKind(reflect.TypeFor[byte]()).note

// unit is what an element type is made of: the same thing, so many times, without a
// gap. Types agree if they are made of the same things, as in MPI: an array or a struct
// of three float64 agrees with float64, and names count for nothing.
type unit struct {
	name  string
	count int
}

func unitOf(t reflect.Type) unit {
	switch t.Kind() {
	case reflect.Array:
		u := unitOf(t.Elem())
		return unit{u.name, u.count * t.Len()}
	case reflect.Struct:
		return structUnit(t)
	}
	return unit{t.Kind().String(), 1}
}

// structUnit is a struct's: its fields', if all are made of the same and there is no gap
// between them; else the list of them with their places.
func structUnit(t reflect.Type) unit {
	var same unit
	var list strings.Builder
	uniform, end := true, uintptr(0)
	for f := range t.Fields() {
		if f.Type.Size() == 0 {
			continue
		}
		u := unitOf(f.Type)
		uniform = uniform && f.Offset == end && (same.count == 0 || same.name == u.name)
		end = f.Offset + f.Type.Size()
		same = unit{u.name, same.count + u.count}
		fmt.Fprintf(&list, "%d:%d %s,", f.Offset, u.count, u.name)
	}
	if uniform && end == t.Size() {
		return same
	}
	return unit{fmt.Sprintf("{%s%d}", list.String(), t.Size()), 1}
}

// mismatch is the error of a receive whose message is of another type.
type mismatch struct {
	sent, received string
	source         int
	tag            int
	bytes          int
}

func (e *mismatch) Error() string {
	return fmt.Sprintf("the element types differ: rank %d has sent %d bytes of %s with tag %d, and this is a receive of %s",
		e.source, e.bytes, e.sent, e.tag, e.received)
}

// Unwrap returns ErrType.
func (e *mismatch) Unwrap() error { return ErrType }

// noteSays reads a note.
func noteSays(note []byte) (sum uint64, name string) {
	n := min(int(note[8]), nameMost)
	return binary.LittleEndian.Uint64(note), strings.ToValidUTF8(string(note[noteName:noteName+n]), "?")
}

// kind is the element type of a call whose buffer had the error that bytesOf has
// returned: nil where types aren't compared.
func (c *types) kind(e elem, err error) (*kind, error) {
	if err != errChecked {
		return nil, err
	}
	k, _ := c.kinds.Load(e.word) // bytesOf has stored it
	return k.(*kind), nil
}
