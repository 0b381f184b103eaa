package harness

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/verbena-mpi/verbena/comm"
)

// shape replaces the figures of a table, whose widths stay.
func shape(table string) string {
	table = strings.Replace(table, comm.Version, "VERSION", 1)
	return regexp.MustCompile(` +\d+\.\d\d`).ReplaceAllStringFunc(table, func(s string) string {
		return strings.Repeat(" ", len(s)-1) + "N"
	})
}

func TestRunLatency(t *testing.T) {
	got := runPair(latencySpec, 2, strings.Fields("-m 2:8 -i 20 -x 3 -c -u 2 -z50"), nil)
	want := `
# OSU MPI Latency Test v7.4 (verbena VERSION)
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation  P50 Tail Lat(us)
2                          N              Pass                 N
4                          N              Pass                 N
8                          N              Pass                 N
`
	if diff := cmp.Diff(want, shape(got[0].stdout)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for rank, o := range got {
		if o.err != nil || o.stderr != "" || (rank == 1 && o.stdout != "") {
			t.Errorf("rank %d: %v, stdout %q, stderr %q", rank, o.err, o.stdout, o.stderr)
		}
		if want := 3 * (20 + 3) * (2 + 1); o.body.steps != want {
			t.Errorf("rank %d did %d iterations, want %d", rank, o.body.steps, want)
		}
	}
}

func TestRunWays(t *testing.T) {
	for _, spec := range []Spec{latencySpec, bandwidthSpec, bothWaysSpec, multiSpec, rateSpec} {
		for _, args := range []string{
			"", "-z", "-c", "-c -u0", "-c -z -b multiple", "-b multiple", "-a alloc", "-a alloc -b multiple -c", "--clock --cpus",
		} {
			t.Run(spec.Name+" "+args, func(t *testing.T) {
				got := runPair(spec, 2, strings.Fields("-i4 -x1 -m4096:16384 "+args), nil)
				for rank, o := range got {
					if o.err != nil {
						t.Errorf("rank %d: %v", rank, o.err)
					}
					if o.job.allocated != 0 {
						t.Errorf("rank %d: %d buffers were not freed", rank, o.job.allocated)
					}
				}
				if rows := strings.Count(got[0].stdout, "\n"+"16384 "); rows != 1 {
					t.Errorf("no row for the last size:\n%s", got[0].stdout)
				}
			})
		}
	}
}

// TestValidationCatches damages one message in the ways that validation is
// there for.
func TestValidationCatches(t *testing.T) {
	tests := []struct {
		name    string
		deliver func(recv, message []byte)
		detail  string
	}{
		{"a flipped byte", func(recv, message []byte) { copy(recv, message); recv[5] ^= 4 }, "byte 5 is"},
		{"nothing arrives", func(_, _ []byte) {}, "byte 0 is"},
		{"the last byte is missing", func(recv, message []byte) { copy(recv[:7], message) }, "byte 7 is"},
		{"bytes in the wrong place", func(recv, message []byte) { copy(recv[1:], message); recv[0] = message[7] }, "byte 0 is"},
	}
	for _, spec := range []Spec{latencySpec, bandwidthSpec} {
		for _, tt := range tests {
			t.Run(spec.Name+" "+tt.name, func(t *testing.T) {
				// Only the second of four timed iterations is damaged: with three
				// warm-up windows before each it is the eighth step.
				got := runPair(spec, 2, strings.Fields("-m 8:64 -i 4 -x 0 -c -u 3"), func(step int, recv, message []byte) {
					if step == 8 {
						tt.deliver(recv, message)
						return
					}
					copy(recv, message)
				})
				for rank, o := range got {
					if o.err != ExitStatus(1) {
						t.Errorf("rank %d ends with %v, want status 1", rank, o.err)
					}
				}
				lines := strings.Split(got[0].stdout, "\n")
				lines = lines[len(lines)-3:]
				if !strings.HasPrefix(lines[0], "8 ") || !strings.HasSuffix(lines[0], "              Fail") {
					t.Errorf("row %q does not say Fail", lines[0])
				}
				want := "DATA VALIDATION ERROR: " + spec.Name + " exited with status 1 on message size 8."
				if lines[1] != want || lines[2] != "" {
					t.Errorf("the output ends with %q, want %q", lines[1:], want)
				}
				if detail := got[1].stderr; !strings.Contains(detail, "iteration 1: receive buffer 0: "+tt.detail) ||
					!strings.Contains(detail, "(1 of 4 iterations)") {
					t.Errorf("rank 1 says %q", detail)
				}
			})
		}
	}
}

// TestValidationCatchesOverrun writes behind the message.
func TestValidationCatchesOverrun(t *testing.T) {
	for _, before := range []bool{false, true} {
		spec := latencySpec
		r := &run{spec: &spec, job: &fakeJob{me: 1, n: 2}, options: defaults(Latency), place: spec.place(1, 1)}
		r.options.Validate = true
		r.allocate(64)
		r.send.resize(8)
		r.recv.resize(8)
		r.prepare(8, 0)
		fill(r.recv.messages[0], seed(8, 0, 0, 0), 0)
		if err := r.check(8, 0); err != nil {
			t.Fatal(err)
		}
		b := &r.recv.buffers[0]
		at, want := b.start+8, "byte 1 after"
		if before {
			at, want = b.start-3, "byte 3 before"
		}
		b.raw[at] = 0
		if err := r.check(8, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestValidationSeesSends: a send buffer must not change either.
func TestValidationSeesSends(t *testing.T) {
	spec := bandwidthSpec
	r := &run{spec: &spec, job: &fakeJob{me: 0, n: 2}, options: defaults(Bandwidth), place: spec.place(0, 1)}
	r.allocate(64)
	r.send.resize(64)
	r.prepare(64, 0)
	r.send.messages[0][63]++
	if err := r.check(64, 0); err == nil || !strings.Contains(err.Error(), "send buffer 0: byte 63") {
		t.Errorf("got %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	tests := []struct {
		args           string
		ranks          int
		stdout, stderr string
		err            error
	}{
		{"-q", 2, latencySpec.usage(), "Invalid option [-q]\n", ExitStatus(1)},
		{"-i 0", 3, latencySpec.usage(), "Invalid number of iterations [-i 0]\n", ExitStatus(1)},
		{"-h", 3, latencySpec.usage(), "", nil},
		{"-v", 3, "# OSU MPI Latency Test v7.4 (verbena " + comm.Version + ")\n", "", nil},
		{"", 1, "", "This test requires exactly two processes\n", ExitStatus(1)},
		{"", 3, "", "This test requires exactly two processes\n", ExitStatus(1)},
	}
	for _, tt := range tests {
		got := runPair(latencySpec, tt.ranks, strings.Fields(tt.args), nil)
		if o := got[0]; o.stdout != tt.stdout || o.stderr != tt.stderr || o.err != tt.err {
			t.Errorf("%q, %d ranks: got %q, %q, %#v", tt.args, tt.ranks, o.stdout, o.stderr, o.err)
		}
		if o := got[1]; o.stdout != "" || o.stderr != "" || o.err != tt.err {
			t.Errorf("%q, %d ranks: rank 1 got %q, %q, %#v", tt.args, tt.ranks, o.stdout, o.stderr, o.err)
		}
	}
}

// idleBody does nothing.
type idleBody struct{}

func (idleBody) Use(_, _ [][]byte)          {}
func (idleBody) Step(context.Context) error { return nil }

func TestLoopsDoNotAllocate(t *testing.T) {
	r := &run{spec: &latencySpec, body: idleBody{}, stamps: make([]time.Duration, 101)}
	ctx := context.Background()
	for name, loop := range map[string]func(){
		"plain":   func() { r.plain(ctx, 10, 100) },
		"sampled": func() { r.sampled(ctx, 10, 100) },
	} {
		if n := testing.AllocsPerRun(100, loop); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
