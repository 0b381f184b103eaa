//go:build linux

package jobtest

import (
	"slices"
	"strings"
	"testing"
)

// What a call with a rank comes to that was killed, is stopped, or has finished, or
// was so before there ever was a contact; by which calls two ranks meet it, both at
// once. Afterwards they still reach each other, and a rank that was stopped goes on
// as if nothing had been.
func TestFates(t *testing.T) {
	const (
		died     = "died"     // a PeerError with ErrDied, or ErrUnreachable
		finished = "finished" // a PeerError with ErrFinished
		inTime   = "in time"  // the context's error, when it ended
		done     = "done"
	)
	states := []string{"killed", "killed before contact", "finished", "finished before contact", "stopped"}
	for _, v := range []struct {
		call     string
		outcomes [5]string // by state
	}{
		{"send", [5]string{died, died, finished, finished, done}},
		{"large send", [5]string{died, died, finished, finished, inTime}},
		{"large isend", [5]string{died, died, finished, finished, inTime}},
		{"recv", [5]string{died, died, finished, finished, inTime}},
		{"irecv", [5]string{died, died, finished, finished, inTime}},
		{"probe", [5]string{died, died, finished, finished, inTime}},
		{"any source", [5]string{done, done, done, done, done}},
		{"any source, of nothing", [5]string{died, died, "", "", inTime}}, // "": the others are left
	} {
		for i, state := range states {
			if v.outcomes[i] == "" {
				continue
			}
			t.Run(v.call+"/"+state, func(t *testing.T) {
				j := spec{n: 3, flags: []string{"--continuous"}}.start(t, "ranks", "fate", state, v.call)
				status, want := j.wait(), 0
				if strings.HasPrefix(state, "killed") {
					want = 137
				}
				if status != want {
					t.Errorf("status %d, want %d", status, want)
				}
				var got []string
				for line := range strings.Lines(j.stdout.String()) {
					if line = strings.TrimSpace(line); !strings.HasPrefix(line, "pid ") {
						got = append(got, line)
					}
				}
				if want := []string{v.outcomes[i], v.outcomes[i]}; !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			})
		}
	}
}
