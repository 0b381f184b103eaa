//go:build linux

package jobtest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// rank is a process of the job that has said who it is.
type rank struct {
	id      int
	process *os.Process // holds a descriptor: its pid can't become another's
}

// ranks are those of the job that were seen so far, in the order in which they
// said who they are. Only processes that have the witness count.
func (j *job) ranks() []rank {
	for _, line := range j.stdout.lines() {
		id, pid := 0, 0
		if n, _ := fmt.Sscanf(line, "pid %d %d", &id, &pid); n != 2 || j.asked[pid] {
			continue
		}
		j.asked[pid] = true
		p, err := os.FindProcess(pid)
		if err == nil && j.witness.holds(pid) {
			j.seen = append(j.seen, rank{id, p})
		}
	}
	return j.seen
}

// find returns a rank if it was seen.
func (j *job) find(id int) *rank {
	for _, r := range j.ranks() {
		if r.id == id {
			return &r
		}
	}
	return nil
}

// alive says whether the process is there, and not only its exit status.
func (r *rank) alive() bool {
	if r.process.Signal(syscall.Signal(0)) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.process.Pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}
