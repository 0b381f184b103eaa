package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Process is a program that runs in a host.
type Process struct {
	Pid int    // as the machine has it
	Exe string // the path of its file
}

// Processes are what runs in a host, but not its init.
func (b *Bed) Processes(host int) []Process {
	b.t.Helper()
	init := b.hosts[host].cmd.Process.Pid
	home, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", init))
	if err != nil {
		return nil // it is dead
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.t.Fatal(err)
	}
	var found []Process
	for _, dir := range all {
		if space, err := os.Readlink(dir + "/ns/pid"); err != nil || space != home {
			continue
		}
		exe, err := os.Readlink(dir + "/exe")
		pid, bad := strconv.Atoi(filepath.Base(dir))
		if err != nil || bad != nil || pid == init {
			continue
		}
		found = append(found, Process{pid, exe})
	}
	return found
}
