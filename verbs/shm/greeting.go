//go:build linux

package shm

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sendHello sends a greeting, and descriptors with it.
func sendHello(c *net.UnixConn, h hello, fds []int) error {
	_, _, err := c.WriteMsgUnix(h.encode(), unix.UnixRights(fds...), nil)
	return err
}

// receiveHello receives a greeting with its three descriptors, or one that
// refuses and has none.
func receiveHello(c *net.UnixConn) (h hello, fds [3]int, err error) {
	fds = [3]int{-1, -1, -1}
	var buf [512]byte
	var oob [128]byte
	n, on, flags, _, err := c.ReadMsgUnix(buf[:], oob[:])
	if err != nil {
		return h, fds, err
	}
	got := parseRights(oob[:on])
	if len(got) == len(fds) {
		copy(fds[:], got)
	} else {
		for _, fd := range got {
			_ = unix.Close(fd)
		}
	}
	if flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		return h, fds, errHello
	}
	if n == 1 && buf[0] == goodbye {
		return h, fds, errGoodbye
	}
	if h, err = decodeHello(buf[:n]); err != nil {
		return h, fds, err
	}
	if h.Status == refusedNot && h.Version == helloVersion && len(got) != len(fds) {
		return h, fds, fmt.Errorf("%w: %d descriptors", errHello, len(got))
	}
	return h, fds, nil
}

// parseRights returns the descriptors of a message, close-on-exec (Go receives
// them so).
func parseRights(oob []byte) (fds []int) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range msgs {
		if len(msgs[i].Data)%4 != 0 {
			continue // no list of descriptors, and ParseUnixRights panics
		}
		got, err := unix.ParseUnixRights(&msgs[i])
		if err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func closeAll(fds [3]int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// peerProcess checks that the other end is this user's, and returns its process
// id: 0 if it can't be seen from this pid namespace.
func peerProcess(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var cerr error
	err = raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil {
		return 0, err
	}
	if cerr != nil {
		return 0, cerr
	}
	if int(cred.Uid) != os.Geteuid() {
		return 0, fmt.Errorf("shm: the peer's user is %d, this is %d", cred.Uid, os.Geteuid())
	}
	return int(cred.Pid), nil
}
