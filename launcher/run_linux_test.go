package launcher

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Children with the race detector would sleep a second when they exit.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// sh runs a shell script as ranks, and returns what came out.
func sh(t *testing.T, ctx context.Context, j Job, n int, script string) (Result, string, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	j.Parts = []Part{{Ranks: n, Program: "sh", Args: []string{"-c", script}}}
	j.Stdin, j.Stdout, j.Stderr = null, f, f
	r, rerr := Run(ctx, j)
	out, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(out), rerr
}

func TestRun(t *testing.T) {
	before := descriptors(t)
	r, out, err := sh(t, t.Context(), Job{}, 3, "echo hello")
	if want := (Result{Rank: -1}); err != nil || r != want || out != "hello\nhello\nhello\n" {
		t.Errorf("%+v, %v, %q", r, err, out)
	}
	r, out, err = sh(t, t.Context(), Job{Env: []string{"PATH=" + os.Getenv("PATH"), "X=7"}}, 3, `test $PMI_RANK != 2 || exit $X; exec sleep 60`)
	if err != nil || r.Status != 7 || r.Rank != 2 || !strings.HasSuffix(r.Why, "exited with status 7") || out != "verbrun: "+r.Why+"\n" {
		t.Errorf("%+v, %v, %q", r, err, out)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

func TestRunCanceled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	r, out, err := sh(t, ctx, Job{}, 2, `trap "" TERM; while :; do sleep 60; done`)
	if err != nil || r.Status != 143 || r.Rank != -1 || !strings.Contains(out, "the job was canceled") {
		t.Errorf("%+v, %v, %q", r, err, out)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Error(took)
	}
}
