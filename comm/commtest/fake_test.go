package commtest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// fake is a test that may fail.
type fake struct {
	testing.TB
	deadline time.Time

	mu      sync.Mutex
	failed  bool
	skipped bool
	errors  []string
}

func (f *fake) Helper() {}

func (f *fake) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }

func (f *fake) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *fake) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	f.FailNow()
}

func (f *fake) Fatal(args ...any) {
	f.Errorf("%s", fmt.Sprint(args...))
	f.FailNow()
}

func (f *fake) FailNow() {
	f.mu.Lock()
	f.failed = true
	f.mu.Unlock()
	runtime.Goexit()
}

func (f *fake) SkipNow() {
	f.mu.Lock()
	f.skipped = true
	f.mu.Unlock()
	runtime.Goexit()
}

func (f *fake) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

func (f *fake) Skipped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped
}

// text is what the test printed.
func (f *fake) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.errors, "\n")
}

// runFake is commtest.Run of a test that may fail. It says whether Run returned.
func runFake(t *testing.T, f *fake, n int, program func(*fake, context.Context, *comm.Comm) error, opts ...commtest.Option) (returned bool) {
	t.Helper()
	f.TB = t
	done := make(chan struct{})
	go func() {
		defer close(done)
		commtest.Run(f, n, func(ctx context.Context, c *comm.Comm) error { return program(f, ctx, c) }, opts...)
		returned = true
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("Run doesn't end")
	}
	return returned
}
