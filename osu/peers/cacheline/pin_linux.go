package cacheline

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// pin ties the calling goroutine to its thread and the thread to the CPU. The
// goroutine must end without unlocking: then its thread ends too.
func pin(cpu int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("cacheline: pinning a thread to CPU %d: %w", cpu, err)
	}
	return nil
}
