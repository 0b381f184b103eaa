package commtest

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// Processes runs f as n ranks, each a process, and returns when all have ended. The
// test fails, and ends, unless all of them return nil. It is skipped on systems that
// have no device between processes.
//
// Each process executes this test binary again and runs this test up to this call;
// see the package comment. The package's TestMain, if it has one, runs there too.
func Processes(t *testing.T, n int, f comm.RunFunc, opts ...Option) {
	t.Helper()
	call := callName(t)
	if isChild() {
		if os.Getenv(callEnv) == call {
			beRank(t, f, choose(t, opts))
		}
		return
	}
	switch {
	case n < 1:
		t.Fatalf("commtest: %d ranks", n)
	case inBubble():
		t.Fatal("commtest: processes can't be in a bubble of testing/synctest")
	case comm.Devices()[0] == inprocess:
		t.Skip("commtest: this system has no device between processes")
	}
	launch(t, n, call, choose(t, opts))
}

// childArgs are the arguments of a process: this one's own, but of those that are go
// test's only what concerns the test.
func childArgs(t *testing.T, limit time.Duration) []string {
	levels := strings.Split(t.Name(), "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	args := []string{
		"-test.run=" + strings.Join(levels, "/"),
		"-test.count=1",
		"-test.paniconexit0",
		fmt.Sprintf("-test.timeout=%v", limit),
	}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	return append(append(args, "--"), flag.Args()...)
}

// said splits what the processes printed: which ranks have run, and what is worth
// showing.
func said(output string) (ranks []string, text string) {
	var b strings.Builder
	for line := range strings.Lines(output) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "] ") // the tag
		switch {
		case strings.HasPrefix(rest, ran):
			if r := rest[len(ran):]; !slices.Contains(ranks, r) {
				ranks = append(ranks, r)
			}
		case rest == "PASS", strings.HasPrefix(rest, "coverage: "), strings.HasPrefix(rest, "=== "), strings.HasPrefix(rest, "--- SKIP"), strings.HasPrefix(rest, "--- PASS"):
		default:
			b.WriteString(line)
		}
	}
	return ranks, b.String()
}
