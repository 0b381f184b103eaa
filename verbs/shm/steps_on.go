//go:build linux && verbena_steps

package shm

// OnStep is called at each marked point of a send. It exists only in builds
// with the tag verbena_steps, for the test that ends a peer at each of them.
var OnStep func(step int)

func step(n int) {
	if OnStep != nil {
		OnStep(n)
	}
}
