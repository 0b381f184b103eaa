package comm

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testLimit = 60 * time.Second // for a run

// run runs n ranks in this process, and fails the test for each rank's error.
func run(t testing.TB, n int, c Config, body func(context.Context, *Comm) error) {
	t.Helper()
	for r, err := range runErrors(t, n, c, body) {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// runErrors is run for ranks that shall fail.
func runErrors(t testing.TB, n int, c Config, body func(context.Context, *Comm) error) []error {
	t.Helper()
	s, err := c.resolve(os.Environ(), logrus.New())
	if err != nil {
		t.Fatal(err)
	}
	return runJob(t, bootstrap.NewLocal(n, ""), s, body)
}

// runJob is runErrors for the ranks of a job.
func runJob(t testing.TB, job *bootstrap.Local, s settings, body func(context.Context, *Comm) error) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	log, n := logrus.New(), job.Size
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			w, err := newWorld(ctx, job.Job(r), s, log)
			if err != nil {
				errs[r] = err
				return
			}
			if err := body(ctx, w.Comm()); err != nil {
				errs[r] = err
				w.shut()
				return
			}
			if err := w.Close(ctx); err != nil && !errors.Is(err, ErrClosed) {
				errs[r] = err
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(testLimit + 10*time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("the ranks did not end\n%s", buf[:runtime.Stack(buf, true)])
	}
	return errs
}

// configs are the settings under which the protocol tests run.
var configs = []struct {
	name string
	Config
}{
	{"srq", Config{Recv: "srq"}},
	{"peer", Config{Recv: "peer"}},
	{"stream", Config{Read: "stream"}},
	{"copy", Config{Read: "copy", Recv: "peer"}},
	{"direct", Config{Read: "direct"}}, // of memory from Alloc; else streamed
	{"tight", Config{Slots: 4, EagerLimit: 200}},
	{"no eager", Config{EagerLimit: -1}},
	{"tcp", Config{Devices: "tcp"}},
}

func eachConfig(t *testing.T, f func(t *testing.T, c Config)) {
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) { f(t, c.Config) })
	}
}
