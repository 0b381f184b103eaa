package harness

import "golang.org/x/sys/unix"

// ownCPU is the one CPU that this process may run on, or -1.
func ownCPU() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 {
		return -1
	}
	cpu := 0
	for !set.IsSet(cpu) {
		cpu++
	}
	return cpu
}
