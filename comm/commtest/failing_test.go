package commtest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// failing are tests that fail, or skip, for TestFailing to run in a process of
// their own, and what go test prints then, as regular expressions.
var failing = []struct {
	name string
	test func(t *testing.T)
	want []string
}{
	{
		"Fatal",
		func(t *testing.T) {
			commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					t.Fatal("wrong sum")
				}
				return hear(ctx, c)
			})
			t.Error("Run returned")
		},
		[]string{
			`(?m)^ +failing_test\.go:\d+: wrong sum$`,
			`failing_test\.go:\d+: commtest: rank 1 of 3: ended by t\.Fatal at \S+failing_test\.go:\d+`,
			`rank 0 of 3, for that: comm: rank 0: Recv`,
			`(?m)^FAIL$`,
		},
	},
	{
		"Skip",
		func(t *testing.T) {
			commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					t.Skip("no paper")
				}
				return hear(ctx, c)
			})
			t.Error("Run returned")
		},
		[]string{`SKIP: TestFails/Skip`, `no paper`, `(?m)^PASS$`},
	},
	{
		"DeviceInBubble",
		func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				commtest.Run(t, 2, func(context.Context, *comm.Comm) error { return nil }, commtest.Device("shm"))
			})
		},
		[]string{`device shm in a bubble of testing/synctest: only inproc waits there as it must`},
	},
	{
		"ProcessesInBubble",
		func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				commtest.Processes(t, 2, func(context.Context, *comm.Comm) error { return nil })
			})
		},
		[]string{`processes can't be in a bubble of testing/synctest`},
	},
	{
		"DeadlockInBubble",
		func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) error {
					_, err := comm.Recv(ctx, c, make([]byte, 1), 1-c.Rank(), 3)
					return err
				})
			})
		},
		[]string{
			`commtest: not done after 1h0m0s\. What the ranks wait for:`,
			`rank 0: Recv\(peer 1, tag 3, 1 B\), for 1h0m0s, at \S+failing_test\.go:\d+`,
			`rank 1: Recv\(peer 0, tag 3, 1 B\), for 1h0m0s, at \S+failing_test\.go:\d+`,
		},
	},
	{
		"ProcessError",
		func(t *testing.T) {
			commtest.Processes(t, 3, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					return errors.New("no more paper")
				}
				return hear(ctx, c)
			})
			t.Error("Processes returned")
		},
		[]string{
			`failing_test\.go:\d+: commtest: rank 1 \(pid \d+\) exited with status 1`,
			`\[1\] +\S+\.go:\d+: no more paper\n`,
			`(?m)^FAIL$`,
		},
	},
	{
		"ProcessFatal",
		func(t *testing.T) {
			commtest.Processes(t, 2, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					t.Fatal("wrong sum")
				}
				return hear(ctx, c)
			})
		},
		[]string{`commtest: rank 1 \(pid \d+\) exited with status 1`, `\[1\] +failing_test\.go:\d+: wrong sum`},
	},
	{
		"ProcessPanic",
		func(t *testing.T) {
			commtest.Processes(t, 2, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					panic("out of cheese")
				}
				return hear(ctx, c)
			})
		},
		[]string{`commtest: rank 1 \(pid \d+\) crashed at \S*failing_test\.go:\d+: panic: out of cheese`},
	},
	{
		"ProcessExit",
		func(t *testing.T) {
			commtest.Processes(t, 2, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					os.Exit(0)
				}
				return hear(ctx, c)
			})
		},
		[]string{`commtest: rank 1 \(pid \d+\) crashed at \S+: panic: unexpected call to os\.Exit\(0\)`},
	},
	{
		"ProcessLimit",
		func(t *testing.T) {
			commtest.Processes(t, 2, func(ctx context.Context, c *comm.Comm) error {
				_, err := comm.Recv(ctx, c, make([]byte, 1), 1-c.Rank(), 3)
				return err
			}, commtest.Limit(2*time.Second))
		},
		[]string{
			`rank 0: Recv\(peer 1, tag 3, 1 B\), for \S+, at \S*failing_test\.go:\d+`,
			`rank 1: Recv\(peer 0, tag 3, 1 B\), for \S+, at \S*failing_test\.go:\d+`,
			`commtest: .*2s`,
		},
	},
	{
		"ProcessStray",
		func(t *testing.T) {
			if os.Getenv("COMMTEST_CALL") != "" {
				return
			}
			commtest.Processes(t, 2, func(context.Context, *comm.Comm) error { return nil })
		},
		[]string{`of 2 processes only those of ranks \[\] came to the call of Processes`},
	},
}

// TestFails is what TestFailing runs.
func TestFails(t *testing.T) {
	if os.Getenv("COMMTEST_FAILING") == "" {
		t.Skip("for TestFailing")
	}
	for _, f := range failing {
		t.Run(f.name, f.test)
	}
}

// What go test prints when a rank fails, for each way of failing.
func TestFailing(t *testing.T) {
	for _, f := range failing {
		t.Run(f.name, func(t *testing.T) {
			if strings.HasPrefix(f.name, "Process") && runtime.GOOS != "linux" {
				t.Skip("no device between processes")
			}
			start := time.Now()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFails$/^"+f.name+"$", "-test.v", "-test.timeout=1m")
			cmd.Env = append(os.Environ(), "COMMTEST_FAILING=1")
			out, err := cmd.CombinedOutput()
			if (err == nil) != (f.name == "Skip") {
				t.Errorf("%v", err)
			}
			for _, want := range f.want {
				if !regexp.MustCompile(want).Match(out) {
					t.Errorf("want %s", want)
				}
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}
