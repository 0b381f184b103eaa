//go:build !linux

package harness

// ownCPU is -1: here processes are not pinned.
func ownCPU() int { return -1 }
