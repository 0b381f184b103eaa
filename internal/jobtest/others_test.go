//go:build linux

package jobtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// otherHosts are names for this host under which verbrun doesn't know it.
var otherHosts = [2]string{"198.51.100.1", "198.51.100.2"}

// onOthers: ranks run on other hosts, so called (TestOnOtherHosts).
func onOthers() bool { return os.Getenv("JOBTEST_HOSTS") != "" }

// elsewhere are flags for ranks on other hosts, if that is where they are to be.
func elsewhere(t *testing.T) []string {
	t.Helper()
	if !onOthers() {
		return nil
	}
	agent := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexec /bin/sh -c \"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"--host", strings.Join(otherHosts[:], ","), "--launch-agent", agent}
}

// What the launcher and comm's worlds do for each other works when they are on
// different hosts: these tests again, through agents. That messages name the host is
// left out.
func TestOnOtherHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if onOthers() {
		t.Skip("is on others")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, "-test.v", "-test.run=^(TestAllCrash|TestCrashElsewhere|TestNoCrash|TestChild|TestDeadlock|TestDeadlockReported|TestNoDeadlock|TestDump|TestEnds|TestRankKilled|TestLauncherKilled|TestProfiles|TestSurvive|TestNoFiles)$")
	cmd.Env = append(os.Environ(), "JOBTEST_HOSTS=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d tests", strings.Count(string(out), "--- PASS"))
}
