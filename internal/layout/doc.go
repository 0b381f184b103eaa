// Package layout describes where the elements of a message lie in a buffer, and moves
// them: packs them into a message, and unpacks a message into its places. It is index
// arithmetic only, in elements; bytes come in with the size of one.
//
// A Layout is immutable, and may be used by any number of goroutines.
package layout
