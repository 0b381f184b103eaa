//go:build linux

package jobtest

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// confined runs start, which starts a process, on the first n of the allowed
// CPUs: the process inherits that. 0 means all of them.
func confined(n int, start func() error) error {
	if n == 0 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	for c := 0; some.Count() < min(n, all.Count()); c++ {
		if all.IsSet(c) {
			some.Set(c)
		}
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	return start()
}
