package doctor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// memoryTrial does what two ranks of a host do: one makes a file in memory, seals it, and
// hands it to the other over a socket that has no name in any file system; both map it.
func memoryTrial() error {
	fd, err := unix.MemfdCreate("verbena-doctor", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "memfd")
	defer func() { _ = file.Close() }()
	if err := file.Truncate(trialSize); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return fmt.Errorf("sealing: %w", err)
	}
	got, err := handOver(fd)
	if err != nil {
		return fmt.Errorf("handing over a descriptor: %w", err)
	}
	defer func() { _ = unix.Close(got) }()
	return mapBoth(fd, got)
}

// handOver sends a descriptor to ourselves.
func handOver(fd int) (got int, err error) {
	addr := &net.UnixAddr{Net: "unix", Name: "@verbena-doctor-" + rand.Text()}
	l, err := net.ListenUnix("unix", addr)
	if err != nil {
		return -1, err
	}
	defer func() { _ = l.Close() }()
	out, err := net.DialUnix("unix", nil, addr)
	if err != nil {
		return -1, err
	}
	defer func() { _ = out.Close() }()
	if err := l.SetDeadline(time.Now().Add(trialLimit)); err != nil {
		return -1, err
	}
	in, err := l.AcceptUnix()
	if err != nil {
		return -1, err
	}
	defer func() { _ = in.Close() }()
	if _, _, err := out.WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil); err != nil {
		return -1, err
	}
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := in.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return -1, errors.Join(errors.New("no descriptor came"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(errors.New("no descriptor came"), err)
	}
	return fds[0], nil
}

// mapBoth checks that what is written through one is read through the other.
func mapBoth(a, b int) error {
	mems := [2][]byte{}
	for i, fd := range []int{a, b} {
		mem, err := unix.Mmap(fd, 0, trialSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return fmt.Errorf("mmap: %w", err)
		}
		defer func() { _ = unix.Munmap(mem) }()
		mems[i] = mem
	}
	if mems[0][7] = 42; mems[1][7] != 42 {
		return errors.New("two mappings of one file differ")
	}
	return nil
}
