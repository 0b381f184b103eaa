//go:build !race

package testbuild

// Race says that this test was built with the race detector.
const Race = false
