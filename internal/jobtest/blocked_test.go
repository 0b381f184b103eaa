//go:build linux

package jobtest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A rank that is blocked, in whatever call, uses next to nothing of its CPU.
func TestBlocked(t *testing.T) {
	const share = 0.01
	for _, n := range []int{2, 7} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			j := spec{n: n}.start(t, "ranks", "blocked", "-for", "5s")
			if status := j.wait(); status != 0 || j.stdout.count("rank ") != n-1 {
				t.Errorf("status %d", status)
			}
			for _, line := range j.stdout.lines() {
				var id int
				var waited, used time.Duration
				if !blockedLine(line, &id, &waited, &used) {
					continue
				}
				t.Logf("rank %d: %v of %v: %.2f %%", id, used, waited, 100*used.Seconds()/waited.Seconds())
				if waited < 4*time.Second || used.Seconds() >= share*waited.Seconds() {
					t.Errorf("rank %d: more than %v of a CPU", id, share)
				}
			}
		})
	}
}

// blockedLine reads what a rank reports.
func blockedLine(line string, id *int, waited, used *time.Duration) bool {
	var a, b string
	if n, _ := fmt.Sscanf(line, "rank %d: waited %s used %s", id, &a, &b); n != 3 {
		return false
	}
	var err1, err2 error
	*waited, err1 = time.ParseDuration(strings.TrimSuffix(a, ","))
	*used, err2 = time.ParseDuration(b)
	return err1 == nil && err2 == nil
}
