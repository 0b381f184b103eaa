package launcher

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestVerdict(t *testing.T) {
	exited := func(n int) syscall.WaitStatus { return syscall.WaitStatus(n << 8) }
	for _, c := range []struct {
		ws                syscall.WaitStatus
		joined, finalized bool
		status            int
		why               string
	}{
		{exited(0), false, false, 0, ""},
		{exited(0), true, true, 0, ""},
		{exited(0), true, false, 1, "exited with status 0 after joining the job and before finalizing"},
		{exited(3), true, false, 3, "exited with status 3"},
		{exited(255), true, true, 255, "exited with status 255"},
		{syscall.WaitStatus(syscall.SIGKILL), true, true, 137, "was killed by SIGKILL"},
		{syscall.WaitStatus(syscall.SIGSEGV | 0x80), false, false, 139, "was killed by SIGSEGV (core dumped)"},
		{syscall.WaitStatus(40), false, false, 168, "was killed by signal 40"},
	} {
		if status, why := verdict(c.ws, c.joined, c.finalized); status != c.status || why != c.why {
			t.Errorf("%#x: %d, %q; expected %d, %q", c.ws, status, why, c.status, c.why)
		}
	}
	for code, want := range map[int]int{0: 1, 1: 1, 7: 7, 255: 255, 256: 1, 263: 7, -1: 255} {
		if got := abortStatus(code); got != want {
			t.Errorf("abort(%d): %d, expected %d", code, got, want)
		}
	}
}

// Both ways of listing children find the same.
func TestChildren(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	for name, list := range map[string][]int{"children": children(), "childrenByParent": childrenByParent()} {
		if !slices.Contains(list, cmd.Process.Pid) {
			t.Errorf("%s: %v lacks %d", name, list, cmd.Process.Pid)
		}
	}
}

func TestForwardedSignals(t *testing.T) {
	if got := ForwardedSignals(); slices.Contains(got, os.Signal(syscall.SIGURG)) || len(got) < 5 {
		t.Error(got)
	}
}

func TestParseBind(t *testing.T) {
	for s, want := range map[string]Bind{"": BindAuto, "auto": BindAuto, "none": BindNone, "core": BindCore, "numa": BindNUMA} {
		if got, err := ParseBind(s); err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	if _, err := ParseBind("socket"); err == nil || !strings.Contains(err.Error(), "socket") {
		t.Error(err)
	}
}
