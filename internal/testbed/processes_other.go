//go:build !linux

package testbed

// Process is a program that runs in a host.
type Process struct {
	Pid int    // as the machine has it
	Exe string // the path of its file
}

// Processes are what runs in a host, but not its init.
func (b *Bed) Processes(int) []Process { panic("testbed: not Linux") }
