//go:build linux

package jobtest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A large message to or from a rank that computes for a second, without a call,
// doesn't wait for the end of that.
func TestOverlap(t *testing.T) {
	const busy = time.Second
	for _, who := range []string{"send", "recv"} {
		for _, read := range []string{"auto", "copy", "stream", "direct", "tcp"} {
			for _, procs := range []string{"", "GOMAXPROCS=1"} {
				t.Run(strings.Join([]string{who, read, procs}, " "), func(t *testing.T) {
					args := []string{"overlap", "-who", who, "-for", busy.String()}
					if read == "direct" {
						args = append(args, "-memory", "alloc")
					}
					env := []string{"VERBENA_READ=" + read, procs}
					if read == "tcp" {
						env[0] = "VERBENA_DEVICES=tcp"
					}
					j := spec{n: 2, env: env}.start(t, "ranks", args...)
					if status := j.wait(); status != 0 {
						t.Fatalf("status %d", status)
					}
					begin, end, done := j.at("compute begins"), j.at("compute ends"), j.at("transfer")
					t.Logf("transfer done %v after the computation began, which took %v", done-begin, end-begin)
					if begin == 0 || end-begin < busy || done == 0 || done >= end {
						t.Error("no overlap")
					}
				})
			}
		}
	}
}

// at is when a rank reported something, by the host's clock; 0: it did not.
func (j *job) at(what string) time.Duration {
	for _, line := range j.stdout.lines() {
		var us int64
		if n, _ := fmt.Sscanf(line, "at %d", &us); n == 1 && strings.HasSuffix(line, " "+what) {
			return time.Duration(us) * time.Microsecond
		}
	}
	return 0
}
