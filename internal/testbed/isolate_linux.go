package testbed

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// able says why this process can't make namespaces.
func able() error {
	if os.Geteuid() != 0 {
		return errors.New("not root")
	}
	return nil
}

// isolated starts a process in a net namespace of its own, and as a host with
// uts, ipc, pid and mount namespaces.
func isolated(host bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Setpgid: true}
	if host {
		a.Cloneflags |= unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWPID | unix.CLONE_NEWNS
	}
	return a
}

// died waits for a child's death, and leaves it to be reaped.
func died(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// space is a kind of namespace.
type space struct {
	name string
	flag int
}

var netSpace = space{"net", unix.CLONE_NEWNET}

// hostSpaces are those of a host. The mount namespace is the last, since /proc
// is another one there.
func hostSpaces() []space {
	return []space{netSpace, {"uts", unix.CLONE_NEWUTS}, {"ipc", unix.CLONE_NEWIPC}, {"pid", unix.CLONE_NEWPID}, {"mnt", unix.CLONE_NEWNS}}
}

// enter moves the calling thread into namespaces of a process. The thread must
// be locked, and is good for nothing else afterwards. Of the pid namespace only
// children hear.
func enter(pid int, spaces ...space) error {
	for _, s := range spaces {
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, s.name))
		if err != nil {
			return fmt.Errorf("the host is dead: %w", err)
		}
		if s.flag == unix.CLONE_NEWNS {
			// The threads of a process share a root and a working folder otherwise.
			err = unix.Unshare(unix.CLONE_FS)
		}
		if err == nil {
			err = unix.Setns(int(f.Fd()), s.flag)
		}
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("entering %s: %w", f.Name(), err)
		}
	}
	return nil
}

// In calls f on a thread that is in the host's net namespace: the sockets that f
// itself makes are the host's, those of other goroutines that it starts are not.
// f must not end the test.
func (b *Bed) In(host int, f func()) {
	b.t.Helper()
	if err := in(b.hosts[host].cmd.Process.Pid, f); err != nil {
		b.t.Errorf("testbed: %s: %v", Name(host), err)
	}
}

// in calls f in the net namespace of a process.
func in(pid int, f func()) error {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() { _ = home.Close() }()
	if err = enter(pid, netSpace); err == nil {
		f()
	}
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return fmt.Errorf("the way back: %w", back) // nobody else shall get this thread
	}
	runtime.UnlockOSThread()
	return err
}
