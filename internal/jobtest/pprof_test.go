//go:build linux

package jobtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each rank has a complete profile, whether the job ends well or not.
func TestProfiles(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		ranks  string // that end by themselves
	}{
		{"pingpong -n 100", 0, "01"},
		{"end error", 1, "1"},
		{"end abort", 7, "1"},
	} {
		dir := t.TempDir()
		j := spec{n: 2, flags: []string{"--pprof=cpu", "--wdir", dir}}.start(t, "ranks", strings.Fields(tt.args)...)
		if status := j.wait(); status != tt.status {
			t.Errorf("%s: status %d", tt.args, status)
		}
		for _, r := range strings.Split(tt.ranks, "") {
			out, err := exec.Command("go", "tool", "pprof", "-raw", filepath.Join(dir, "rank-"+r+".pprof")).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "cpu/nanoseconds") {
				t.Errorf("%s: rank %s: %v: %s", tt.args, r, err, out)
			}
		}
	}
}
