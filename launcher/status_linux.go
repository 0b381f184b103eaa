package launcher

import (
	"fmt"
	"syscall"
)

// verdict is the exit status that a rank's end stands for, and why.
func verdict(ws syscall.WaitStatus, joined, finalized bool) (int, string) {
	switch {
	case ws.Signaled():
		return 128 + int(ws.Signal()), describe(ws)
	case ws.ExitStatus() != 0:
		return ws.ExitStatus(), describe(ws)
	case joined && !finalized:
		return 1, "exited with status 0 after joining the job and before finalizing"
	}
	return 0, ""
}

// describe says how a process ended.
func describe(ws syscall.WaitStatus) string {
	switch {
	case ws.Signaled() && ws.CoreDump():
		return "was killed by " + signalName(ws.Signal()) + " (core dumped)"
	case ws.Signaled():
		return "was killed by " + signalName(ws.Signal())
	}
	return fmt.Sprintf("exited with status %d", ws.ExitStatus())
}

// abortStatus makes an exit status of what a rank gave to abort.
func abortStatus(code int) int {
	if code &= 0xff; code != 0 {
		return code
	}
	return 1
}
