//go:build linux

package jobtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// place is where the comment is in the ranks' program.
func place(t *testing.T, comment string) string {
	t.Helper()
	b, err := os.ReadFile("ranks/deadlock.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if strings.HasSuffix(line, "// "+comment) {
			return fmt.Sprintf("ranks/deadlock.go:%d", i+1)
		}
	}
	t.Fatalf("no line with %q", comment)
	return ""
}

const awhile = `, for \d+(\.\d)?m?s, at `

// Ranks that wait for each other are found out, with the cycle, the calls and the
// source lines.
func TestDeadlock(t *testing.T) {
	recv, send, list, workers := place(t, "the recv"), place(t, "the send"), place(t, "the list"), place(t, "the workers")
	for _, tt := range []struct {
		how   string
		n     int
		why   string
		lines []string
	}{
		{"recv", 3, `ranks 0 → 2 → 1 → 0 wait for each other`, []string{
			`rank 0 waits for rank 2: Recv\(peer 2, tag 7, 16 B\)` + awhile + recv,
			`rank 2 waits for rank 1: Recv\(peer 1, tag 7, 16 B\)` + awhile + recv,
			`rank 1 waits for rank 0: Recv\(peer 0, tag 7, 16 B\)` + awhile + recv,
		}},
		{"send", 3, `ranks 0 → 1 → 2 → 0 wait for each other`, []string{
			`rank 0 waits for rank 1: Send\(peer 1, tag 8, 800000 B\)` + awhile + send,
		}},
		{"list", 2, `ranks 0 → 1 → 0 wait for each other`, []string{
			`rank 1 waits for rank 0: Irecv\(peer 0, tag 10, 8 B\) in WaitAll` + awhile + list,
			`rank 1 waits for any rank: Irecv\(peer AnySource, tag AnyTag, 8 B\) in WaitAll` + awhile + list,
		}},
		{"workers", 3, `ranks 0 → 2 → 1 → 0 wait for each other`, []string{
			`rank 0 waits for rank 2: Recv\(peer 2, tag 20, 8 B\)` + awhile + workers,
			`rank 0 waits for rank 2: Recv\(peer 2, tag 22, 8 B\)` + awhile + workers,
		}},
		{"send", 1, `rank 0 waits for itself`, []string{
			`rank 0 waits for rank 0: Send\(peer 0, tag 8, 800000 B\)` + awhile + send,
		}},
	} {
		t.Run(fmt.Sprint(tt.how, tt.n), func(t *testing.T) {
			j := spec{n: tt.n, flags: []string{"--detect-deadlock"}}.start(t, "ranks", "deadlock", tt.how)
			status := j.wait()
			if status != 1 || !strings.HasSuffix(j.stderr.String(), "verbrun: deadlock: "+tt.why+"\n") {
				t.Errorf("status %d, or the reason isn't %q", status, tt.why)
			}
			for _, line := range append(tt.lines, "deadlock: every rank waits, and no message is on its way", tt.why) {
				if !regexp.MustCompile(`(?m)^verbrun: ` + line + `$`).MatchString(j.stderr.String()) {
					t.Errorf("not said: %s", line)
				}
			}
		})
	}
}

// Without the flag it is reported, once, and the job goes on waiting.
func TestDeadlockReported(t *testing.T) {
	j := spec{n: 3}.start(t, "ranks", "deadlock", "recv")
	j.until("the report", func() bool { return j.stderr.count("verbrun: ranks 0 → 2 → 1 → 0 wait") == 1 })
	if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if status := j.wait(); status != 128+int(syscall.SIGTERM) || j.stderr.count("verbrun: deadlock: ") != 1 {
		t.Errorf("status %d", status)
	}
}

// A rank that does something else, or whose wait ends, is in no deadlock.
func TestNoDeadlock(t *testing.T) {
	for _, how := range []string{"sleeper", "deadline"} {
		j := spec{n: 3, flags: []string{"--detect-deadlock"}}.start(t, "ranks", "deadlock", how)
		if status := j.wait(); status != 0 || j.stderr.String() != "" {
			t.Errorf("%s: status %d", how, status)
		}
	}
}

// Ranks say where they are blocked, on request and when the time is over.
func TestDump(t *testing.T) {
	const dumpSignal = syscall.Signal(35)
	sleeper, others, list := place(t, "the sleeper"), place(t, "the others"), place(t, "the list")
	said := func(j *job, line string) bool {
		return regexp.MustCompile(`(?m)^verbrun: ` + line + `$`).MatchString(j.stderr.String())
	}
	j := spec{n: 3}.start(t, "ranks", "deadlock", "sleeper")
	j.until("all wait", func() bool { return j.stdout.count("waiting") == 3 })
	dumped := func() bool { return said(j, `rank 1: Recv\(peer 0, tag 11, 8 B\)(, for \S+)?, at `+others) }
	for tries := 1; !dumped() && !j.witness.over(); tries++ { // it may not be blocked yet
		if err := j.cmd.Process.Signal(dumpSignal); err != nil {
			t.Fatal(err)
		}
		j.until("an answer", func() bool { return j.stderr.count("verbrun: rank 2: ") >= tries })
	}
	if !said(j, `rank 0: nothing is pending; main is at `+sleeper+` \(sleep\)`) {
		t.Error("rank 0 is not where it is")
	}
	if status := j.wait(); status != 0 || !dumped() {
		t.Errorf("status %d", status)
	}

	j = spec{n: 2, flags: []string{"--timeout=1s"}}.start(t, "ranks", "deadlock", "list")
	status := j.wait()
	for _, line := range []string{
		`rank 1: Irecv\(peer 0, tag 9, 8 B\), nobody waits for it`,
		`rank 0: Irecv\(peer 1, tag 10, 8 B\) in WaitAll` + awhile + list,
		`time limit of 1s reached; still running: rank 0-1`,
	} {
		if status != 124 || !said(j, line) {
			t.Errorf("status %d; not said: %s", status, line)
		}
	}
}
