package comm

import (
	"fmt"

	"github.com/verbena-mpi/verbena/internal/layout"
)

// Layout says where the elements of a message lie in a buffer, if not side by side: in
// the column of a matrix, in a part of an array, at a list of places. It is an option
// of calls that send or receive; its numbers are elements of their buffer, from the
// buffer's beginning: slicing the buffer moves it.
//
// What travels are the elements in the layout's order. So the two sides may use
// different layouts, or one side none. A receive writes the elements that have come, and
// nothing else: not what lies between them, nor those for which the message is too
// short. A message of more elements than the layout has is truncated.
//
// A Layout is immutable: it is described once, and used in any number of calls, with
// any element type, concurrently. A nil *Layout is none.
type Layout struct {
	places layout.Layout
	err    error // of a description that can't be; the calls return it
}

func (*Layout) option() {}

// Strided is count blocks, each of so many elements, that begin stride elements apart:
// Strided(rows, 1, columns) of m[k:] is column k of a matrix that is stored row by row.
// Numbers that can't be are an error, ErrLayout, of the calls that use it.
func Strided(count, block, stride int) *Layout {
	l, err := layout.Strided(count, block, stride)
	if err != nil {
		err = fmt.Errorf("Strided(%d, %d, %d): %w", count, block, stride, err)
	}
	return &Layout{l, err}
}

// Subarray is a part of an array of n dimensions, each of the length in shape, in Go's
// order: the elements of the last dimension lie side by side. The part begins at start,
// and is size elements long in each dimension. The error is ErrLayout.
func Subarray(shape, start, size []int) (*Layout, error) {
	return described(layout.Subarray(shape, start, size))("Subarray")
}

// Indexed is blocks, of so many elements each, at the offsets, in the order in which they
// are listed. A layout with blocks that overlap can be sent and not received. The error
// is ErrLayout.
func Indexed(block int, offsets []int) (*Layout, error) {
	return described(layout.Indexed(block, offsets))("Indexed")
}

// IndexedBlocks is Indexed with a length for each block. The error is ErrLayout.
func IndexedBlocks(lengths, offsets []int) (*Layout, error) {
	return described(layout.Blocks(lengths, offsets))("IndexedBlocks")
}

func described(l layout.Layout, err error) func(op string) (*Layout, error) {
	return func(op string) (*Layout, error) {
		if err != nil {
			return nil, fmt.Errorf("comm: %s: %w: %w", op, ErrLayout, err)
		}
		return &Layout{places: l}, nil
	}
}

// Elements is how many elements a message with this layout has.
func (l *Layout) Elements() int { return l.places.Elements() }

// Extent is how many elements a buffer must have: one more than the index of the last
// one that the layout uses.
func (l *Layout) Extent() int { return l.places.Extent() }

// view is a buffer, seen through a layout. Without one, or where the layout's elements
// lie side by side, it is the bytes of the message themselves.
type view struct {
	places *layout.Layout // nil: buf is the message's
	buf    []byte
	size   int   // bytes of an element
	length int   // bytes of the message
	kind   *kind // of a receive, where element types are compared
}

// view checks that the layout's elements are in a buffer. A nil layout is all of it.
func (l *Layout) view(buf []byte, size int) (view, error) {
	if l == nil {
		return view{buf: buf, length: len(buf)}, nil
	}
	if l.err != nil {
		return view{}, fmt.Errorf("%w: %w", ErrLayout, l.err)
	}
	length, need, ok := l.places.Bytes(size)
	if !ok || need > len(buf) {
		return view{}, fmt.Errorf("%w: it needs a buffer of %d elements, this one has %d", ErrLayout, l.Extent(), len(buf)/size)
	}
	if start, n, ok := l.places.Contiguous(); ok {
		return view{buf: buf[start*size : (start+n)*size], length: length}, nil
	}
	return view{places: &l.places, buf: buf, size: size, length: length}, nil
}

// target is view for a buffer that is to be written.
func (l *Layout) target(buf []byte, size int) (view, error) {
	if l != nil {
		if err := l.places.Overlap(); err != nil {
			return view{}, fmt.Errorf("%w a receive: %w", ErrLayout, err)
		}
	}
	return l.view(buf, size)
}

func (v *view) pack(msg []byte)   { v.places.Pack(msg, v.buf, v.size) }
func (v *view) unpack(msg []byte) { v.places.Unpack(v.buf, msg, v.size) }
