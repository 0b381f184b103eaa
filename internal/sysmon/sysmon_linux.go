package sysmon

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Batch gives the monitor thread the scheduling policy SCHED_BATCH: when it wakes
// up it does not interrupt what runs, but waits until the core is free, or for a
// time slice (some milliseconds). It needs no privilege.
func Batch() error {
	tid, err := thread(os.Getpid())
	if err != nil {
		return err
	}
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return fmt.Errorf("sysmon: scheduling policy of thread %d: %w", tid, err)
	}
	attr.Policy = unix.SCHED_BATCH
	if err := unix.SchedSetAttr(tid, attr, 0); err != nil {
		return fmt.Errorf("sysmon: scheduling policy of thread %d: %w", tid, err)
	}
	return nil
}

// thread returns the monitor's thread: the first that the runtime starts, so the
// second of the process. The kernel lists threads in the order in which they were
// started. Should it be another one in some future version, that one gets its share
// of the core all the same.
func thread(pid int) (tid int, err error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(2) // unlike os.ReadDir it doesn't sort
	if err != nil {
		return 0, err
	}
	if len(names) < 2 {
		return 0, fmt.Errorf("sysmon: process %d has one thread", pid)
	}
	return strconv.Atoi(names[1])
}
