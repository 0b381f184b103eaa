//go:build linux && !verbena_steps

package shm

// step marks a point of a send at which a test kills the process (see
// steps_on.go). It compiles to nothing.
func step(int) {}
