// Package lint holds tests of the source itself: that imports go down only, and
// that buffers which are passed to a communication call never stay on a stack.
package lint
