//go:build unix

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hydra runs this binary as ranks under the real thing.
func hydra(t *testing.T, as string, args ...string) (string, int) {
	t.Helper()
	if _, err := exec.LookPath("mpiexec.hydra"); err != nil {
		t.Skip("mpiexec.hydra isn't installed (Debian: mpich)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mpiexec.hydra", append(args, os.Args[0])...)
	cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK="+as)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestHydra(t *testing.T) {
	for _, args := range [][]string{{"-n", "1"}, {"-n", "4"}, {"-pmi-port", "-n", "3"}} {
		n := int(args[len(args)-1][0] - '0')
		out, status := hydra(t, "exchange", args...)
		if status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, out)
		}
		for r := range n {
			if want := fmt.Sprintf("%d of %d agrees\n", r, n); !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %q", args, want, out)
			}
		}
	}
}

func TestHydraChild(t *testing.T) {
	out, status := hydra(t, "early child", "-n", "2")
	if status != 0 || strings.Count(out, "child: 0 of 1\n") != 2 {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestHydraAbort(t *testing.T) {
	if out, status := hydra(t, "abort", "-n", "2"); status != 7 {
		t.Errorf("status %d: %s", status, out)
	}
}
