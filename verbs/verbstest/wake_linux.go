package verbstest

import "golang.org/x/sys/unix"

// canPoll says that readable works.
const canPoll = true

// readable says whether one of the descriptors is readable now.
func readable(fds []int) (bool, error) {
	var buf [16]unix.PollFd
	set := buf[:0]
	for _, fd := range fds {
		set = append(set, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for {
		n, err := unix.Poll(set, 0)
		if err == unix.EINTR {
			continue
		}
		return n > 0, err
	}
}
