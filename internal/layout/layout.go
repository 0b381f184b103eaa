package layout

import (
	"errors"
	"fmt"
)

// Layout is the places of a message's elements, in the message's order: blocks of one
// length in nested loops, or a list of runs.
type Layout struct {
	start    int   // element at which the loops begin
	block    int   // elements in a piece
	dims     []dim // the loops around the block, outermost first
	runs     []run // instead of loops, if it isn't nil
	elements int
	extent   int
	overlap  error
}

// dim is one loop: so many turns, so many elements apart.
type dim struct{ count, stride int }

// run is elements that lie together.
type run struct{ at, n int }

// Elements is how many elements the message has.
func (l *Layout) Elements() int { return l.elements }

// Extent is how many elements a buffer must have: one more than the index of the last
// that is used.
func (l *Layout) Extent() int { return l.extent }

// Overlap says whether an element is used twice, and where: nil, or an error. Such a
// layout can be packed, but not unpacked.
func (l *Layout) Overlap() error { return l.overlap }

// Contiguous says whether the message lies in the buffer as it is, and where.
func (l *Layout) Contiguous() (start, elements int, ok bool) {
	if l.runs == nil && len(l.dims) == 0 {
		return l.start, l.block, true
	}
	return 0, 0, false
}

// Bytes is the length of the message, and of the buffer that it needs, if an element
// has size bytes. It is false if that is more than can be.
func (l *Layout) Bytes(size int) (message, buffer int, ok bool) {
	message, ok = mul(l.elements, size)
	buffer, fits := mul(l.extent, size)
	return message, buffer, ok && fits
}

// Errors of bad descriptions.
var (
	errNegative = errors.New("a negative number")
	errHuge     = errors.New("more elements than can be")
)

// Strided is count blocks, each of so many elements; the starts of two that follow each
// other are stride elements apart.
func Strided(count, block, stride int) (Layout, error) {
	if count < 0 || block < 0 || stride < 0 {
		return Layout{}, fmt.Errorf("%w: %d blocks of %d, %d apart", errNegative, count, block, stride)
	}
	l := Layout{block: block}
	if count == 0 || block == 0 {
		return Layout{}, nil
	}
	last, ok := mul(count-1, stride)
	if ok {
		l.extent, ok = add(last, block)
	}
	if n, fits := mul(count, block); ok && fits {
		l.elements = n
	} else {
		return Layout{}, fmt.Errorf("%w: %d blocks of %d, %d apart", errHuge, count, block, stride)
	}
	if count > 1 && stride < block {
		l.overlap = fmt.Errorf("blocks of %d elements overlap, %d apart", block, stride)
	}
	l.loop([]dim{{count, stride}})
	return l, nil
}

// Subarray is a part of an array in as many dimensions as shape has, the last one's
// elements side by side: from start, size elements in each dimension.
func Subarray(shape, start, size []int) (Layout, error) {
	if len(start) != len(shape) || len(size) != len(shape) {
		return Layout{}, fmt.Errorf("%d dimensions, with %d starts and %d sizes", len(shape), len(start), len(size))
	}
	if len(shape) == 0 {
		return Layout{}, errors.New("no dimensions")
	}
	for i := range shape {
		if shape[i] < 0 || start[i] < 0 || size[i] < 0 {
			return Layout{}, fmt.Errorf("%w: dimension %d: %d from %d of %d", errNegative, i, size[i], start[i], shape[i])
		}
		if size[i] > shape[i] || start[i] > shape[i]-size[i] {
			return Layout{}, fmt.Errorf("dimension %d: %d from %d of %d", i, size[i], start[i], shape[i])
		}
	}
	l := Layout{block: 1, elements: 1}
	dims := make([]dim, len(shape))
	stride, last, ok := 1, 0, true
	for i := len(shape) - 1; i >= 0; i-- {
		dims[i] = dim{size[i], stride}
		l.elements *= size[i] // no more than the array has
		l.start += start[i] * stride
		last += (start[i] + size[i] - 1) * stride
		if stride, ok = mul(stride, shape[i]); !ok {
			return Layout{}, fmt.Errorf("%w: an array of %v", errHuge, shape)
		}
	}
	if l.elements == 0 {
		return Layout{}, nil
	}
	l.extent = last + 1
	l.loop(dims)
	return l, nil
}

// loop sets the loops around the block, as few as will do.
func (l *Layout) loop(dims []dim) {
	for i := len(dims) - 1; i >= 0; i-- {
		d := dims[i]
		switch n := len(l.dims); {
		case d.count == 1:
		case n == 0 && d.stride == l.block:
			l.block *= d.count
		case n > 0 && d.stride == l.dims[0].count*l.dims[0].stride:
			l.dims[0].count *= d.count
		default:
			l.dims = append([]dim{d}, l.dims...)
		}
	}
}

// mul is a·b, of numbers that aren't negative, if there is such an int.
func mul(a, b int) (int, bool) {
	c := a * b
	return c, a == 0 || c/a == b && c >= 0
}

func add(a, b int) (int, bool) { return a + b, a+b >= 0 }
