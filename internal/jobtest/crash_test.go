//go:build linux

package jobtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var crashLine = regexp.MustCompile(`(?m)^verbrun: rank (\d) \(pid \d+\) crashed at \S+crash\.go:\d+: panic: runtime error: index out of range \[(\d)\] with length 0$`)

// When all ranks run into the same mistake, there is one trace, and a line for
// each that got so far.
func TestAllCrash(t *testing.T) {
	for i := range rounds(3, 20) {
		j := spec{n: 4}.start(t, "ranks", "crash")
		if status := j.wait(); status != 2 {
			t.Errorf("status %d", status)
		}
		errs := j.stderr.String()
		said := crashLine.FindAllStringSubmatch(errs, -1)
		if len(said) == 0 || strings.Count(errs, "\npanic: ")+strings.Count(errs, "main.crash(") > 2 || j.stderr.count("panic: ") != 1 {
			t.Errorf("%d: not one trace, or nobody is blamed", i)
			continue
		}
		if last := said[len(said)-1]; last[1] != last[2] || !strings.HasSuffix(errs, last[0]+"\n") {
			t.Errorf("the last word is not the reason: %q", last)
		}
		if !strings.Contains(errs, "panic: runtime error: index out of range ["+said[len(said)-1][1]+"]") {
			t.Error("the trace is another rank's than the one that is blamed")
		}
	}
}

// A rank whose standard error is elsewhere crashes: the launcher shows the trace.
func TestCrashElsewhere(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	j := spec{n: 1}.start(t, "/bin/sh", "-c", `exec "$0" crash 2>"$1"`, filepath.Join(bin, "ranks"), log)
	if status := j.wait(); status != 2 || !crashLine.MatchString(j.stderr.String()) || strings.Count(j.stderr.String(), "goroutine 1 [running]") != 1 {
		t.Errorf("status %d", status)
	}
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "goroutine 1 [running]") {
		t.Errorf("%s: %v", b, err)
	}
}

// What looks like a crash and is none is passed on, if a little later.
func TestNoCrash(t *testing.T) {
	j := spec{n: 2}.start(t, "ranks", "recover")
	if status := j.wait(); status != 0 || j.stderr.String() != "" {
		t.Errorf("status %d", status)
	}
	j = spec{n: 1}.start(t, "/bin/sh", "-c", `echo "panic: a word" >&2; exec sleep 20`)
	j.until("the word", func() bool { return j.stderr.count("panic: a word") == 1 })
	if took := time.Since(j.started); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	_ = j.cmd.Process.Kill()
	j.reap()
	j = spec{n: 2}.start(t, "/bin/sh", "-c", `echo "panic: not so" >&2; exit 2`)
	if status := j.wait(); status != 2 || j.stderr.count("panic: not so") == 0 {
		t.Errorf("status %d", status)
	}
}

// Rule 26: a child of a rank is no rank, and has none of its descriptors.
func TestChild(t *testing.T) {
	j := spec{n: 2}.start(t, "ranks", "child")
	if status := j.wait(); status != 0 || j.stdout.count(fmt.Sprintf("child: a world of 1, control %q, files []", "")) != 2 {
		t.Errorf("status %d", status)
	}
}

// The runtime finds no deadlock in a program that is linked with cgo, as those that
// import net are by default. One that isn't says this.
func TestAsleep(t *testing.T) {
	const text = `fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\nmain.main()\n\t/src/job/main.go:9 +0x1d\n`
	j := spec{n: 2}.start(t, "/bin/sh", "-c", `test $PMI_RANK = 1 || exec sleep 50; printf '`+text+`' >&2; exit 2`)
	want := regexp.MustCompile(`(?m)^verbrun: rank 1 \(pid \d+\) crashed at /src/job/main.go:9: fatal error: all goroutines are asleep - deadlock!$`)
	if status := j.wait(); status != 2 || !want.MatchString(j.stderr.String()) || j.stderr.count("fatal error: ") != 1 {
		t.Errorf("status %d", status)
	}
}
