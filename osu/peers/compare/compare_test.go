package main

import (
	"bytes"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseOutput(t *testing.T) {
	out := `
# MPI latency, one way
# CPUs: 0 1
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
8                     0.1312
16                    0.1398              Pass
`
	for size, want := range map[int]float64{8: 0.1312, 16: 0.1398} {
		if got, err := parseOutput(out, size); err != nil || got != want {
			t.Errorf("size %d: %v, %v; want %v", size, got, err, want)
		}
	}
	if got := parseCPUs(out); got != pinned {
		t.Errorf("CPUs %q, want %q", got, pinned)
	}
	for _, bad := range []string{"", "# 8 1.0", "8", "8 fast", "8 -1"} {
		if _, err := parseOutput(bad, 8); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if got := parseCPUs("8 0.1\n"); got != "unknown" {
		t.Errorf("CPUs %q where none are printed", got)
	}
}

func TestSpread(t *testing.T) {
	tests := []struct {
		values []float64
		want   spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{1, 3, 3, 3, 3, 3}},
		{[]float64{4, 1}, spread{2, 2.5, 1.75, 3.25, 1, 4}},
		{[]float64{5, 1, 4, 2, 3}, spread{5, 3, 2, 4, 1, 5}},
	}
	for _, tt := range tests {
		got := newSpread(tt.values)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(spread{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%v (-want +got)\n%s", tt.values, diff)
		}
	}
}

func TestDiscarding(t *testing.T) {
	tests := []struct {
		before, after, others float64
		want                  verdict
		place                 placement
	}{
		{30, 32, 0, kept, near},
		{160, 170, 0, kept, far},
		{30, 160, 0, moved, ""},
		{160, 30, 0, moved, ""},
		{0, 30, 0, unknown, ""},
		{30, 0, 0, unknown, ""},
		{80, 80, 0.2, kept, far},
		{79.9, 30, 0.1, kept, near},
		{30, 30, 0.3, crowded, ""},
	}
	for _, tt := range tests {
		r := results{far: 80, others: 0.2}
		s := sample{side: "ours", size: 8, value: 1, before: tt.before, after: tt.after, others: tt.others}
		if got := r.add(s); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
		if tt.want == kept && len(r.values(tt.place, "ours", 8)) != 1 {
			t.Errorf("%+v: not under its placement", tt)
		}
		if tt.want != kept && (r.discarded[tt.want] != 1 || len(r.kept) != 0) {
			t.Errorf("%+v: discarded %v, kept %v", tt, r.discarded, r.kept)
		}
	}
}

// fixed is a runner that has measured: near, ours takes half of what the best
// peer takes; far, twice; and one run changed its placement.
func fixed(bench string) *runner {
	r := &runner{cfg: &config{bench: bench, sizes: []int{8, 64}, rounds: 3}, log: io.Discard, done: 3}
	r.sides = []*side{{name: "ours", ours: true}, {name: "a", asIs: true}, {name: "b"}, {name: "c", asIs: true}}
	r.runs.far = 80
	add := func(side string, ns float64, values ...float64) {
		for _, v := range values {
			r.runs.add(sample{side: side, size: 8, value: v, before: ns, after: ns})
		}
	}
	add("ours", 30, 1, 2, 9)
	add("a", 30, 5, 5, 5)
	add("b", 30, 4, 4, 4)
	add("c", 30, 8, 8, 8)
	add("ours", 160, 40)
	add("a", 160, 20)
	r.runs.add(sample{side: "ours", size: 8, value: 1e6, before: 30, after: 160})
	return r
}

func TestRatiosAreWithinOnePlacement(t *testing.T) {
	r := fixed("latency")
	c := r.compareSides(near, 8)
	if c.best != "b" || c.standard != "a" {
		t.Errorf("near: best is %q, the default %q", c.best, c.standard)
	}
	if got := c.mark(r.sides[0], c.best); got != "0.50" {
		t.Errorf("near: ours/best is %s, want 0.50", got)
	}
	if got := c.mark(r.sides[0], c.standard); got != "0.40" {
		t.Errorf("near: ours/default is %s, want 0.40", got)
	}
	c = r.compareSides(far, 8)
	if got := c.mark(r.sides[0], c.best); c.best != "a" || got != "2.00" {
		t.Errorf("far: ours/%s is %s, want 2.00", c.best, got)
	}

	r = fixed("bw")
	if c = r.compareSides(near, 8); c.best != "c" || c.standard != "c" {
		t.Errorf("bandwidth: best is %q, the default %q; want the largest", c.best, c.standard)
	}
}

func TestEnough(t *testing.T) {
	r := fixed("latency")
	if r.enough() {
		t.Error("there are no runs at 64 bytes")
	}
	r.cfg.sizes = []int{8}
	if !r.enough() {
		t.Error("all sides have three runs at 8 bytes")
	}
	r.cfg.rounds = 4
	if r.enough() {
		t.Error("ours has four runs, but not in one placement")
	}
	if r.runs.count() != 14 || r.runs.lost() != 1 {
		t.Errorf("%d runs count, %d don't; want 14 and 1", r.runs.count(), r.runs.lost())
	}
}

// Over tcp all sides are compared with the bare socket, which is no peer.
func TestReportTCP(t *testing.T) {
	r := fixed("bw")
	r.cfg.net = tcp
	r.sides = append(r.sides, &side{name: raw, floor: true})
	for range 3 {
		r.runs.add(sample{side: raw, size: 8, value: 10, before: 30, after: 30})
	}
	rows := r.section(near).rows
	got := [][]string{rows[0][6:], rows[3][6:], rows[4][6:]}
	want := [][]string{
		{"9.000", "0.25", "0.25", "0.20"}, // ours, of the best peer c
		{"8.000", "1", "1", "0.80"},
		{"10.0", "", "", "1.00"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestReport(t *testing.T) {
	r := fixed("latency")
	r.note("d: skipped: there is no mpicc.d")
	r.failed = map[string]int{"b": 2}
	var text, markdown bytes.Buffer
	rep := r.report()
	if err := rep.text(&text); err != nil {
		t.Fatal(err)
	}
	if err := rep.markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	want := `
latency, one way, in µs; less is better
  3 rounds; 12 runs kept near, 2 far
  d: skipped: there is no mpicc.d
  1 runs discarded: the placement changed
  b: 2 runs failed

near: a cache line takes 30.0 ns one way (30.0 to 30.0)
Size  Side  Runs  Median    Quartiles    Min    Max  /best  /default  /line
   8  ours     3   2.000  1.500–5.500  1.000  9.000   0.50      0.40   66.7
   8  a        3   5.000  5.000–5.000  5.000  5.000                1  166.7
   8  b        3   4.000  4.000–4.000  4.000  4.000      1            133.3
   8  c        3   8.000  8.000–8.000  8.000  8.000                   266.7

far: a cache line takes 160.0 ns one way (160.0 to 160.0)
Size  Side  Runs  Median  Quartiles   Min   Max  /best  /default  /line
   8  ours     1    40.0  40.0–40.0  40.0  40.0   2.00      2.00  250.0
   8  a        1    20.0  20.0–20.0  20.0  20.0      1         1  125.0
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, line := range []string{
		"## latency, one way, in µs; less is better",
		"- d: skipped: there is no mpicc.d",
		"| Size | Side | Runs | Median | Quartiles | Min | Max | /best | /default | /line |",
		"| 8 | ours | 3 | 2.000 | 1.500–5.500 | 1.000 | 9.000 | 0.50 | 0.40 | 66.7 |",
	} {
		if !strings.Contains(markdown.String(), line+"\n") {
			t.Errorf("the markdown has no line %q:\n%s", line, markdown.String())
		}
	}
}

func TestFlags(t *testing.T) {
	cfg, err := parse([]string{
		"-bench", "bw", "-sizes", "8,64", "-W", "16", "-peers", "mpich",
		"-ours", "srq VERBENA_RECV=srq", "-ours", "direct -a alloc",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := []variant{{name: "srq", env: []string{"VERBENA_RECV=srq"}}, {name: "direct", args: []string{"-a", "alloc"}}}
	if diff := cmp.Diff(want, cfg.ours, cmp.AllowUnexported(variant{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := cfg.arguments(64); !slices.Equal(got, []string{"-m", "64:64", "-W", "16"}) {
		t.Errorf("arguments %q", got)
	}
	if cfg, err = parse([]string{"-peers", "none"}, io.Discard); err != nil || len(cfg.peers) != 0 {
		t.Errorf("no peers: %v, %v", cfg, err)
	}
	cfg, err = parse([]string{"-hosts", "a,b"}, io.Discard)
	if err != nil || cfg.net != tcp || !slices.Equal(cfg.hosts, []string{"a", "b"}) || !slices.Contains(cfg.peers, raw) {
		t.Errorf("two hosts: %+v, %v", cfg, err)
	}
	if cfg, err = parse([]string{"-ours", "none"}, io.Discard); err != nil || len(cfg.ours) != 0 {
		t.Errorf("peers only: %v, %v", cfg, err)
	}
	for _, bad := range []string{
		"-net ib", "-hosts a", "-hosts a,b,c", "-net tcp -peers openmpi-two-copy", "-peers raw", "-net tcp -ours raw",
		"-bench bibw", "-sizes 8,", "-sizes 0", "-rounds 0", "-peers lam", "-i -1", "-timeout 0s", "more", "-ours mpich",
	} {
		if _, err := parse(strings.Fields(bad), io.Discard); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if _, err := parse([]string{"-ours", "a", "-ours", "a"}, io.Discard); err == nil {
		t.Error("a name given twice: no error")
	}
}

func TestCommand(t *testing.T) {
	r := &runner{cfg: &config{timeout: time.Minute}, verbrun: "verbrun", pin: "pinned"}
	ours := &side{ours: true, program: "latency", args: []string{"-c"}}
	floor := &side{floor: true, program: "rawtcp", args: []string{"-b", "latency"}}
	r.underVerbrun(ours)
	r.underVerbrun(floor)
	open, hydra := openMPI("openmpi"), mpich()
	open.program, hydra.program = "latency", "latency"
	for _, tt := range []struct {
		s         *side
		one, many string
	}{
		{
			ours, "verbrun -n 2 --bind-to core latency --cpus --decimals 4 -m 8:8 -c",
			"verbrun -n 2 --host a:1,b:1 --bind-to none pinned latency --cpus --decimals 4 -m 8:8 -c",
		},
		{
			floor, "verbrun -n 2 --bind-to core rawtcp -d 4 -m 8:8 -b latency",
			"verbrun -n 2 --host a:1,b:1 --bind-to none pinned rawtcp -d 4 -m 8:8 -b latency",
		},
		{
			open, "mpirun.openmpi -np 2 --bind-to core latency -d 4 -T 70 -m 8:8",
			"mpirun.openmpi -np 2 --host a:1,b:1 --bind-to none pinned latency -d 4 -T 70 -m 8:8",
		},
		{
			hydra, "mpiexec.hydra -n 2 -bind-to core latency -d 4 -T 70 -m 8:8",
			"mpiexec.hydra -n 2 -hosts a,b -ppn 1 -bind-to none pinned latency -d 4 -T 70 -m 8:8",
		},
	} {
		r.cfg.hosts = nil
		if got := strings.Join(r.command(tt.s, []string{"-m", "8:8"}), " "); got != tt.one {
			t.Errorf("on one host: %q, want %q", got, tt.one)
		}
		r.cfg.hosts = []string{"a", "b"}
		if got := strings.Join(r.command(tt.s, []string{"-m", "8:8"}), " "); got != tt.many {
			t.Errorf("on two: %q, want %q", got, tt.many)
		}
	}
}

// TestRunEnds: a run that takes too long is ended, and one that fails says why.
func TestRunEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	r := &runner{cfg: &config{timeout: 50 * time.Millisecond}, log: io.Discard}
	began := time.Now()
	_, _, err := r.run(t.Context(), &side{launch: []string{"sh", "-c", "exec sleep 60"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "ended after") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it was ended after %v", took)
	}
	r.cfg.timeout = time.Minute
	_, _, err = r.run(t.Context(), &side{launch: []string{"sh", "-c", "echo no route >&2; exit 3"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "exit status 3: no route") {
		t.Errorf("got %v", err)
	}
}

func TestLastLine(t *testing.T) {
	if got := lastLine("first\n------\nNo component\n-----\n\n"); got != "No component" {
		t.Errorf("got %q", got)
	}
}
