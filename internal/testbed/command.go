package testbed

import (
	"context"
	"os/exec"
	"strconv"
)

// inside is the argv[0] under which the test binary is the helper.
const inside = "testbed-inside"

// Command is a program inside a host. It is looked up in the PATH of the
// command's environment, and starts in the folder of the command, as any other;
// a signal to the command reaches the program, and it ends as the program did.
func (b *Bed) Command(host int, name string, args ...string) *exec.Cmd {
	return b.CommandContext(context.Background(), host, name, args...)
}

// CommandContext is Command; the program is killed when ctx is done.
func (b *Bed) CommandContext(ctx context.Context, host int, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	pid := strconv.Itoa(b.hosts[host].cmd.Process.Pid)
	cmd.Args = append([]string{inside, pid, name}, args...)
	return cmd
}
