package harness

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
)

func TestSpread(t *testing.T) {
	if got, want := spread([]int64{5, 2, 9, 4}), "nprocs: 4, min: 2 ms, max: 9 ms, avg: 5 ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOnce(t *testing.T) {
	spec := Spec{Name: "hello", Title: "OSU MPI Hello World Test", Metric: Once}
	failed := errors.New("failed")
	title := "# OSU MPI Hello World Test v7.4 (verbena " + comm.Version + ")\n"
	for _, tt := range []struct {
		args, stdout string
		fails        error
		want         error
	}{
		{"", title + "a line\n", nil, nil},
		{"", "", failed, failed},
		{"-v", title, failed, nil},
		{"-h", spec.usage(), failed, nil},
		{"-m 8", spec.usage(), nil, ExitStatus(1)},
	} {
		var stdout, stderr bytes.Buffer
		r := &run{spec: &spec, job: &alone{}, stdout: &stdout, stderr: &stderr}
		r.once = func(context.Context) (string, error) { return "a line", tt.fails }
		err := r.start(t.Context(), strings.Fields(tt.args))
		if stdout.String() != tt.stdout || !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
			t.Errorf("%q: %q, %v", tt.args, stdout.String(), err)
		}
		if bad := tt.want == ExitStatus(1); (stderr.String() == "Invalid option [-m]\n") != bad {
			t.Errorf("%q: stderr %q", tt.args, stderr.String())
		}
	}
	if n := strings.Count(spec.usage(), "\n  -"); n != 2 {
		t.Errorf("%d options:\n%s", n, spec.usage())
	}
}

// alone is a job of one rank.
type alone struct{ fakeJob }

func (alone) size() int                     { return 1 }
func (alone) barrier(context.Context) error { return nil }
