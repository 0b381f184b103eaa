package launcher

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ForwardedSignals are the signals to pass on to ranks, and DumpSignal: for
// os/signal.Notify.
// A hangup that the caller's parent wants ignored (nohup) stays ignored. URG
// is the Go runtime's own and never among them.
func ForwardedSignals() []os.Signal {
	s := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, DumpSignal}
	if !signal.Ignored(syscall.SIGHUP) {
		s = append(s, syscall.SIGHUP)
	}
	return s
}

func signalName(s syscall.Signal) string {
	if n := unix.SignalName(s); n != "" {
		return n
	}
	return "signal " + strconv.Itoa(int(s))
}
