package coll

import (
	"cmp"
	"fmt"
	"slices"
)

// same says whether two buffers are the same memory: what one would be copied to is
// there already.
func same[T any](a, b []T) bool { return placeOf(a) == placeOf(b) }

// apart checks that two buffers have no memory in common, or are the same.
func apart[T any](in, out []T) error {
	if i, o := placeOf(in), placeOf(out); i.meets(o) && i != o {
		return fmt.Errorf("%w: in and out share a part", ErrOverlap)
	}
	return nil
}

// mineOf checks that a buffer has no memory in common with one that holds a block for
// each rank, or is this rank's block of it.
func mineOf[T any](block, all []T, rank int) error {
	mine := all[rank*len(block):][:len(block)]
	if b := placeOf(block); b.meets(placeOf(all)) && b != placeOf(mine) {
		return fmt.Errorf("%w: in and out share a part that isn't the block of rank %d", ErrOverlap, rank)
	}
	return nil
}

// fit checks a length.
func fit(name string, got, want int) error {
	if got != want {
		return fmt.Errorf("%w: %s has %d values, not %d", ErrLength, name, got, want)
	}
	return nil
}

// parts checks a list of a buffer for each rank: that there are as many, and that none
// shares memory with another one.
func parts[T any](name string, list [][]T, size int) error {
	if len(list) != size {
		return fmt.Errorf("%w: %s has %d parts for %d ranks", ErrLength, name, len(list), size)
	}
	if ascending(list) {
		return nil
	}
	places := sorted(list)
	for i := 1; i < len(places); i++ {
		if places[i-1].meets(places[i]) {
			return fmt.Errorf("%w: parts of %s", ErrOverlap, name)
		}
	}
	return nil
}

// sorted returns where the parts lie that aren't empty, in the order of memory.
func sorted[T any](list [][]T) []place {
	places := make([]place, 0, len(list))
	for _, part := range list {
		if p := placeOf(part); !p.empty() {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	return places
}

// hull is the memory from the first part to the last.
func hull[T any](list [][]T) (all place) {
	for _, part := range list {
		switch p := placeOf(part); {
		case p.empty():
		case all.empty():
			all = p
		default:
			all = place{min(all.from, p.from), max(all.to, p.to)}
		}
	}
	return all
}

// listsApart checks that no part of in has memory in common with one of out, unless it
// is the same and for the same rank. The parts of out are apart from each other.
func listsApart[T any](in, out [][]T) error {
	if !hull(in).meets(hull(out)) {
		return nil
	}
	places := sorted(out)
	for r, part := range in {
		p := placeOf(part)
		if p.empty() || p == placeOf(out[r]) {
			continue
		}
		// The first one that ends behind its beginning.
		i, _ := slices.BinarySearchFunc(places, p.from+1, func(q place, from uintptr) int { return cmp.Compare(q.to, from) })
		if i < len(places) && p.meets(places[i]) {
			return fmt.Errorf("%w: part %d of in, and a part of out", ErrOverlap, r)
		}
	}
	return nil
}

// ascending says whether the parts lie one behind the other, as they mostly do.
func ascending[T any](list [][]T) bool {
	var last place
	for _, part := range list {
		p := placeOf(part)
		if p.empty() {
			continue
		}
		if p.from < last.to {
			return false
		}
		last = p
	}
	return true
}

// mineIn checks that a buffer has no memory in common with the parts of a list, or is
// this rank's part.
func mineIn[T any](block []T, list [][]T, rank int) error {
	for r, part := range list {
		if b, p := placeOf(block), placeOf(part); b.meets(p) && (r != rank || b != p) {
			return fmt.Errorf("%w: in and out share a part that isn't that of rank %d", ErrOverlap, rank)
		}
	}
	return nil
}

// move copies a block to its place, unless it is there.
func move[T any](to, from []T) {
	if !same(to, from) {
		copy(to, from)
	}
}

// block is the i-th of n parts of a buffer, as equal as can be.
func block[T any](buf []T, i, n int) []T { return buf[part(len(buf), i, n):part(len(buf), i+1, n)] }

// part is where the i-th of n parts of length values begins.
func part(length, i, n int) int { return length/n*i + min(i, length%n) }
