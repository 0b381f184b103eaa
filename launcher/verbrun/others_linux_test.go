package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What holds on one host holds on others: these tests again, with ranks on two other
// hosts, which are this one by other names, and a shell in place of ssh. That
// messages name the host is left out.
func TestOnOtherHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if onOthers() {
		t.Skip("is on others")
	}
	for _, pattern := range []string{
		"^(TestStatus|TestDeathOrder|TestAbort|TestLeaving|TestNested|TestTimeout|TestArguments|TestVariables|TestWorkingDirectory" +
			"|TestLauncherKilled|TestSupervisorKilled|TestKilledWithFullPipe|TestUnreadOutput|TestStubborn" +
			"|TestSignals|TestUrgentStaysHere|TestSecondInterrupt|TestSignalGroup" +
			"|TestStdin|TestStdinSlowReader|TestStdinRankGone|TestStdinOpen|TestTerminal|TestTerminalAll|TestTerminalInterrupt" +
			"|TestWholeLines|TestExact|TestLongLines|TestLastWords|TestLastWordsOfAll|TestHeldOpen|TestClosedOutput|TestFullDisk|TestSlowReader|TestLeftBehind" +
			"|TestTagOutput|TestTimestampOutput|TestOutputFiles|TestOutputFilesFail" +
			"|TestParts|TestAppnum|TestExchange|TestMPICH)$",
		"^TestExitTable$/^(every|a_rank|a_Go|the_time|INT|TERM,|HUP|QUIT|a_second|verbrun|its|the_reader|the_disk|there_is_no_such|the_script|the_file_is_exe|the_arg)",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, self(), "-test.v", "-test.run="+pattern)
		cmd.Env = append(os.Environ(), "VERBRUN_TEST_HOSTS=1")
		cmd.WaitDelay = time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%d tests", strings.Count(string(out), "--- PASS"))
		cancel()
	}
}
