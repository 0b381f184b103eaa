package testbed

import (
	"strings"
	"testing"
)

// A job of the cluster runs on all its hosts.
func TestSlurm(t *testing.T) {
	t.Parallel()
	b := New(t, 3)
	b.Slurm()
	got := output(t, b.Command(0, "srun", "-N3", "-n6", "--ntasks-per-node=2", "-l", "hostname"))
	for _, want := range []string{"0: h0\n", "1: h0\n", "2: h1\n", "3: h1\n", "4: h2\n", "5: h2\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if got := output(t, b.Command(1, "salloc", "-Q", "-w", "h0,h1", "sh", "-c", "echo $SLURM_JOB_NODELIST; srun hostname | sort")); got != "h[0-1]\nh0\nh1\n" {
		t.Errorf("an allocation: %q", got)
	}
}
