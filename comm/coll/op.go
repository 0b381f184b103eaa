package coll

import "cmp"

// Op is the operator of a reduction: it stores into[i] ∘ from[i] in into[i], for every
// i. The slices are of the same length and don't overlap; from must not be written, and
// neither may be kept. It is called with parts of the ranks' values, several times.
//
// An operator must be associative. It need not commute: into always holds the values of
// lower ranks than from, so that the result is v₀ ∘ v₁ ∘ … ∘ vₙ₋₁. Where the brackets are
// depends on the call, the length, the number of ranks and the root, and on nothing else:
// a sum of floating-point numbers is the same in every run, and on all ranks.
type Op[T any] func(into, from []T)

// Integer is what And, Or and Xor are for.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Number is what Sum and Prod are for.
type Number interface {
	Integer | ~float32 | ~float64 | ~complex64 | ~complex128
}

// Ordered is what Min and Max are for: what has an order, and no pointers.
type Ordered interface {
	Integer | ~float32 | ~float64
}

// Sum adds.
func Sum[T Number](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		into[i] += from[i]
	}
}

// Prod multiplies.
func Prod[T Number](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		into[i] *= from[i]
	}
}

// Min takes the lesser of two values; NaN is less than all others, as in package cmp.
func Min[T Ordered](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		if cmp.Less(from[i], into[i]) {
			into[i] = from[i]
		}
	}
}

// Max takes the greater of two values; NaN is less than all others, as in package cmp.
func Max[T Ordered](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		if cmp.Less(into[i], from[i]) {
			into[i] = from[i]
		}
	}
}

// And keeps the bits that both values have.
func And[T Integer](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		into[i] &= from[i]
	}
}

// Or keeps the bits that either value has.
func Or[T Integer](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		into[i] |= from[i]
	}
}

// Xor keeps the bits in which the values differ.
func Xor[T Integer](into, from []T) {
	from = from[:len(into)]
	for i := range into {
		into[i] ^= from[i]
	}
}
