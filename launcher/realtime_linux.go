package launcher

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A job at a real-time priority (chrt -f 10 verbrun …) whose ranks spin leaves
// no time for anything of the same priority: signals would not be passed on
// and no time limit kept, and the machine with it would be lost. So the
// launcher's own two processes go one above, and the ranks stay where the user
// wants them.

// outrank raises this process, and returns what it was: nil if there is no
// need, or no permission.
func outrank() *unix.SchedAttr {
	was, err := unix.SchedGetAttr(0, 0)
	if err != nil || was.Policy != unix.SCHED_FIFO && was.Policy != unix.SCHED_RR {
		return nil
	}
	above := *was
	above.Priority++
	if !reschedule(os.Getpid(), above) {
		return nil
	}
	return was
}

// demote puts a child back to where it would have been. It is called at once
// after the child's start: there is little that it can have started itself.
func demote(pid int, to *unix.SchedAttr) {
	if to != nil {
		reschedule(pid, *to)
	}
}

// reschedule changes all threads of a process. A thread inherits from the one
// that makes it, so the second pass finds what was made during the first.
func reschedule(pid int, to unix.SchedAttr) bool {
	ok := false
	for range 2 {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return false
		}
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil {
				ok = unix.SchedSetAttr(tid, &to, 0) == nil || ok
			}
		}
	}
	return ok
}
