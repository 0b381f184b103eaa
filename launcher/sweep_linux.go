package launcher

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// children lists the children of this process. What they started becomes its
// child too once they are gone, since it is a subreaper.
func children() []int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var pids []int
	for _, t := range tasks {
		b, err := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
		if os.IsNotExist(err) {
			if _, err := os.Stat("/proc/self/task/" + t.Name()); err == nil {
				return childrenByParent() // a kernel without this file
			}
		}
		for f := range strings.FieldsSeq(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// childrenByParent looks through all processes.
func childrenByParent() []int {
	dir, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	me := strconv.Itoa(os.Getpid())
	var pids []int
	for _, e := range dir {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, after, _ := cutLast(string(b), ")") // a name may hold anything
		if f := strings.Fields(after); len(f) > 1 && f[1] == me {
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitOrphans reaps children that end by themselves, for so long at most.
func awaitOrphans(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end) && !reapOrphans(); time.Sleep(time.Millisecond) {
	}
}

// sweepOrphans kills and reaps all children of this process, and theirs, for a
// second at most.
func sweepOrphans() {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		for _, pid := range children() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if reapOrphans() {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// reapOrphans reaps children that have ended. It says whether none are left.
func reapOrphans() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case err == unix.ECHILD:
			return true
		case err == unix.EINTR || pid > 0:
			continue
		}
		return false
	}
}
