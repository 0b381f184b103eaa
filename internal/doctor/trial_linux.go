package doctor

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// trialName is argv[0] of this same program as one of the two processes of copyTrial.
const trialName = "verbena-doctor"

func init() {
	if os.Args[0] == trialName {
		os.Exit(trialMain(os.Args[1:]))
	}
}

const (
	trialSize  = 4096
	trialLimit = 10 * time.Second // of the two processes' starting
)

// copyTrial starts two processes, of which one reads the other's memory. We could read
// our own child's where ranks, which have one parent, may not read each other's.
func copyTrial() error {
	ctx, cancel := context.WithTimeout(context.Background(), trialLimit)
	defer cancel()
	owner := trialProcess(ctx, "own")
	in, err := owner.StdinPipe()
	if err != nil {
		return err
	}
	out, err := owner.StdoutPipe()
	if err != nil {
		return err
	}
	if err := owner.Start(); err != nil {
		return err
	}
	defer func() {
		_ = in.Close() // it ends
		_ = owner.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	f := strings.Fields(line)
	if err != nil || len(f) != 2 {
		return fmt.Errorf("the process to be read said %q: %w", line, errors.Join(err, ctx.Err()))
	}
	reader := trialProcess(ctx, "read", strconv.Itoa(owner.Process.Pid), f[0], f[1])
	said, err := reader.Output()
	if err == nil {
		return nil
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(said))); err == nil {
		return syscall.Errno(n)
	}
	return fmt.Errorf("the process that reads: %w", err)
}

func trialProcess(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{trialName}, args...)
	return cmd
}

// trialMain is one of the two processes.
func trialMain(args []string) int {
	switch {
	case len(args) == 1 && args[0] == "own":
		// Outside the heap: nothing moves it.
		mem, err := unix.Mmap(-1, 0, trialSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return 2
		}
		for i := range mem {
			mem[i] = byte(i*7 + os.Getpid())
		}
		fmt.Printf("%x %x\n", addressOf(mem), mem)
		_, _ = os.Stdin.Read(make([]byte, 1)) // until we may go
		return 0
	case len(args) == 4 && args[0] == "read":
		return trialRead(args[1], args[2], args[3])
	}
	return 2
}

// trialRead prints the number of the error that it meets.
func trialRead(pidText, addrText, wantText string) int {
	pid, err1 := strconv.Atoi(pidText)
	addr, err2 := strconv.ParseUint(addrText, 16, 64)
	want, err3 := hex.DecodeString(wantText)
	if errors.Join(err1, err2, err3) != nil {
		return 2
	}
	mem := make([]byte, len(want))
	local := []unix.Iovec{{Base: &mem[0]}}
	local[0].SetLen(len(mem))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(mem)}}, 0)
	if errno, is := errors.AsType[syscall.Errno](err); is {
		fmt.Println(int(errno))
		return 1
	}
	if n != len(mem) || string(mem) != string(want) {
		return 3
	}
	return 0
}
