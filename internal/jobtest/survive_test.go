//go:build linux

package jobtest

import (
	"fmt"
	"regexp"
	"testing"
)

// A rank ends, and the others of a job that goes on hear of it, by whatever
// receive, also those that never had to do with it; and nothing that it had sent
// is lost. A rank that closes its world before the others is no failure.
func TestSurvive(t *testing.T) {
	const n = 8
	for _, tt := range []struct {
		how    string
		status int
		why    string
		flags  []string
	}{
		{"kill", 137, `was killed by SIGKILL`, []string{"--continuous"}},
		{"panic", 2, `crashed at \S+survive.go:\d+: panic: all is lost`, []string{"--continuous"}},
		{"exit", 3, `exited with status 3 after joining the job and before finalizing`, []string{"--continuous"}},
		{"close", 0, ``, []string{"--continuous"}},
		{"close", 0, ``, nil},
	} {
		for i := range rounds(3, 30) {
			t.Run(fmt.Sprint(tt.how, tt.flags, i), func(t *testing.T) {
				j := spec{n: n, flags: tt.flags}.start(t, "ranks", "survive", tt.how)
				if status := j.wait(); status != tt.status || j.stdout.count("survived") != n-1 {
					t.Errorf("status %d", status)
				}
				said := 0
				if tt.why != "" {
					said = 1
				}
				line := regexp.MustCompile(`(?m)^verbrun: rank 7 \(pid \d+\) ` + tt.why + `; the other ranks go on$`)
				if got := line.FindAllString(j.stderr.String(), -1); len(got) != said || j.stderr.count("verbrun: ") != said || j.stderr.count("comm: ") != 0 {
					t.Errorf("not said once: %v", line)
				}
			})
			if t.Failed() {
				return
			}
		}
	}
}
