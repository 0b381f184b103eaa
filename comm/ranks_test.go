package comm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testJob joins the worlds of one process.
type testJob struct {
	mu      sync.Mutex
	n       int
	values  [][]byte
	got     int
	all     chan struct{}
	aborted chan struct{}
	once    sync.Once
	why     string
}

type testRank struct {
	*testJob
	rank int
}

func (j testRank) Exchange(ctx context.Context, _ string, value []byte) ([][]byte, error) {
	j.mu.Lock()
	j.values[j.rank] = value
	if j.got++; j.got == j.n {
		close(j.all)
	}
	j.mu.Unlock()
	select {
	case <-j.all:
		return j.values, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (j testRank) Abort(code int, why string) {
	j.once.Do(func() {
		j.why = fmt.Sprintf("rank %d: %d: %s", j.rank, code, why)
		close(j.aborted)
	})
}

func (j testRank) Close(context.Context) error { return nil }

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
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	log := logrus.New()
	s, err := c.resolve(os.Environ(), log)
	if err != nil {
		t.Fatal(err)
	}
	j := &testJob{n: n, values: make([][]byte, n), all: make(chan struct{}), aborted: make(chan struct{})}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			w, err := newWorld(ctx, testRank{j, r}, r, n, s, log)
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
}

func eachConfig(t *testing.T, f func(t *testing.T, c Config)) {
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) { f(t, c.Config) })
	}
}
