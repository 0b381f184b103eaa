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
	const none = "" // no such case
	for _, v := range []struct {
		call     string
		outcomes [5]string // by state
		env      []string
	}{
		{call: "recv of an offer", outcomes: [5]string{none, none, none, none, done}},
		{"recv of an offer", [5]string{none, none, none, none, inTime}, []string{"VERBENA_READ=stream"}}, // which needs the sender
		{call: "send", outcomes: [5]string{died, died, finished, finished, done}},
		{call: "large send", outcomes: [5]string{died, died, finished, finished, inTime}},
		{call: "large isend", outcomes: [5]string{died, died, finished, finished, inTime}},
		{call: "recv", outcomes: [5]string{died, died, finished, finished, inTime}},
		{call: "irecv", outcomes: [5]string{died, died, finished, finished, inTime}},
		{call: "probe", outcomes: [5]string{died, died, finished, finished, inTime}},
		{call: "any source", outcomes: [5]string{done, done, done, done, done}},
		{call: "any source, of nothing", outcomes: [5]string{died, died, none, none, inTime}}, // the others are left
	} {
		for i, state := range states {
			if v.outcomes[i] == none {
				continue
			}
			t.Run(strings.Join(append([]string{v.call, state}, v.env...), "/"), func(t *testing.T) {
				j := spec{n: 3, flags: []string{"--continuous"}, env: v.env}.start(t, "ranks", "fate", state, v.call)
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
