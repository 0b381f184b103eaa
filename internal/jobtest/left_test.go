//go:build linux

package jobtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long after a job's end, or after the blow that ends it,
// something of it may still be there.
const patience = 2 * time.Second

// gone checks that all of the job is gone soon after a moment, and returns how
// soon that was.
func (j *job) gone(since time.Time) time.Duration {
	j.t.Helper()
	late := time.NewTimer(time.Until(since.Add(patience)))
	defer late.Stop()
	select {
	case <-j.witness.ended:
	case <-late.C:
		j.t.Errorf("processes left after %v", patience)
		j.list()
		return patience
	}
	for _, r := range j.ranks() {
		if r.alive() {
			j.t.Errorf("rank %d, pid %d, is left", r.id, r.process.Pid)
		}
	}
	if files, err := os.ReadDir(j.tmp); err != nil || len(files) > 0 {
		j.t.Errorf("left in TMPDIR: %v, %v", files, err)
	}
	for name := range sharedFiles() {
		if path := filepath.Join(sharedDir, name); !j.shm[name] && !inUse(path) {
			j.t.Errorf("left: %s", path)
		}
	}
	return max(0, j.witness.at.Sub(since))
}

// list logs which processes hold the witness.
func (j *job) list() {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid := 0
		if _, err := fmt.Sscan(filepath.Base(dir), &pid); err == nil && j.witness.holds(pid) {
			cmdline, _ := os.ReadFile(dir + "/cmdline")
			j.t.Logf("pid %d is left: %q", pid, bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))
		}
	}
}

const sharedDir = "/dev/shm"

// sharedFiles are the names in /dev/shm.
func sharedFiles() map[string]bool {
	files, _ := os.ReadDir(sharedDir)
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name()] = true
	}
	return names
}

// inUse says whether any process has a file open or mapped: such a file isn't a
// dead job's, but that of another program on this host.
func inUse(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return true // gone by itself
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if uses(dir, path) {
			return true
		}
	}
	return false
}

// uses says whether the process of a folder of /proc has something open or
// mapped whose name begins like this.
func uses(dir, prefix string) bool {
	maps, _ := os.ReadFile(dir + "/maps")
	if bytes.Contains(maps, []byte(" "+prefix)) {
		return true
	}
	fds, _ := filepath.Glob(dir + "/fd/*")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, prefix) {
			return true
		}
	}
	return false
}
