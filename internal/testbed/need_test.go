package testbed

import (
	"strings"
	"testing"
)

// What can be had here, and what not: for people, and for the log of a run.
func TestNeeds(t *testing.T) {
	for _, n := range needs() {
		t.Run(n.name, func(t *testing.T) { Need(t, n.name) })
	}
}

// What can't be had says why.
func TestMissing(t *testing.T) {
	err := need{name: "x", programs: []string{"sh", "no-such-program"}, packages: "some"}.missing()
	if err == nil || err.Error() != "no-such-program isn't installed (Debian: some)" {
		t.Error(err)
	}
	if able() != nil {
		t.Skip(able())
	}
	err = need{name: "x", try: "echo because; false"}.missing()
	if err == nil || !strings.Contains(err.Error(), "x: this system can't: trial: status 1: because") {
		t.Error(err)
	}
}
