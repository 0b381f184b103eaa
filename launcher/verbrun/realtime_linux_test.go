package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Ranks that spin at a real-time priority don't lock the launcher out.
func TestRealtime(t *testing.T) {
	chrt, err := exec.LookPath("chrt")
	if err != nil {
		t.Skip("no chrt")
	}
	if out, err := exec.Command(chrt, "-f", "1", "true").CombinedOutput(); err != nil {
		t.Skipf("no real-time priorities here: %s", out)
	}
	j := prepareRanks(t, "spin", "-n", "4", "--timeout", "100ms")
	j.cmd.Path = chrt
	j.cmd.Args = append([]string{"chrt", "-f", "1", "bash", "-c", `exec -a verbrun "$0" "$@"`, self()}, j.cmd.Args[1:]...)
	j.start()
	status := j.wait()
	if out := j.out.String(); status != 124 || strings.Contains(out, "priority 2") || !strings.Contains(out, "priority 1") {
		t.Errorf("%d, %q, %q", status, out, j.err.String())
	}
	if took := time.Since(j.started); took > 1500*time.Millisecond {
		t.Errorf("took %v", took)
	}
}
