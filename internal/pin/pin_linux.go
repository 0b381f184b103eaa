package pin

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Thread ties the calling goroutine to its thread and the thread to a CPU. The
// goroutine must end without unlocking: then its thread ends too.
func Thread(cpu int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin: a thread to CPU %d: %w", cpu, err)
	}
	return nil
}

// maxCPUs is how many a unix.CPUSet can hold.
const maxCPUs = 1024

// bench is what Two needs of a benchmark.
type bench interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Two returns two CPUs that this process may use. It skips a benchmark where there
// are none, or Go doesn't use them.
func Two(b bench) (cpus [2]int) {
	b.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		b.Fatal(err)
	}
	n := 0
	for cpu := range maxCPUs {
		if n < 2 && set.IsSet(cpu) {
			cpus[n] = cpu
			n++
		}
	}
	if n < 2 || runtime.GOMAXPROCS(0) < 2 {
		b.Skip("needs two processors")
	}
	return cpus
}
