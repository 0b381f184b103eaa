package main

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// withParent calls gone if the go command that runs us (go run, go tool) ends
// before we do: it leaves its child behind when it is killed, and whoever
// killed it meant the job.
func withParent(gone func()) {
	ppid := os.Getppid()
	exe, err := os.Readlink("/proc/" + strconv.Itoa(ppid) + "/exe")
	if err != nil || filepath.Base(exe) != "go" {
		return
	}
	fd, err := unix.PidfdOpen(ppid, 0)
	if err != nil {
		return
	}
	go func() {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if n, err := unix.Poll(fds, -1); n > 0 {
				gone()
				return
			} else if err != nil && err != unix.EINTR {
				return
			}
		}
	}()
}
