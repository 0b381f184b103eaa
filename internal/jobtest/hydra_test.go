//go:build linux

package jobtest

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The same program runs under another launcher that speaks PMI-1.
func TestHydra(t *testing.T) {
	hydra, err := exec.LookPath("mpiexec.hydra")
	if err != nil {
		t.Skip("mpiexec.hydra isn't installed (Debian: mpich)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), usual)
	defer cancel()
	run := func(args ...string) (string, int) {
		cmd := exec.CommandContext(ctx, hydra, append([]string{"-n", "2", filepath.Join(bin, "ranks")}, args...)...)
		cmd.Env = environ()
		cmd.WaitDelay = 5 * time.Second
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := run("pingpong", "-n", "100"); status != 0 || strings.Count(out, "pid ") != 2 {
		t.Errorf("status %d: %s", status, out)
	}
	// Hydra may take the status of a rank that ended because of the first, and
	// loses what was printed just before.
	if out, status := run("end", "status"); status != 7 && status != 1 {
		t.Errorf("status %d: %s", status, out)
	}
}
