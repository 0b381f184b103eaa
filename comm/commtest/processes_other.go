//go:build !linux

package commtest

import "testing"

// launch isn't there on this system: Processes has skipped the test before.
func launch(t *testing.T, _ int, _ string, _ options) {
	t.Fatal("commtest: this system has no launcher")
}
