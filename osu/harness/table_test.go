package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/verbena-mpi/verbena/comm"
)

var (
	latencySpec   = Spec{Name: "latency", Title: "OSU MPI Latency Test", Metric: Latency}
	bothWaysSpec  = Spec{Name: "bibw", Title: "OSU MPI Bi-Directional Bandwidth Test", Metric: Bandwidth}
	multiSpec     = Spec{Name: "multi_lat", Title: "OSU MPI Multi Latency Test", Metric: Latency, Paired: true}
	rateSpec      = Spec{Name: "mbw_mr", Title: "OSU MPI Multiple Bandwidth / Message Rate Test", Metric: Rate, OneWay: true, Paired: true}
	bandwidthSpec = Spec{Name: "bw", Title: "OSU MPI Bandwidth Test", Metric: Bandwidth, OneWay: true}
)

func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTableGolden reads the C suite's tables, prints their values again, and
// wants the same bytes, but for what the title says of the version.
func TestTableGolden(t *testing.T) {
	tests := []struct {
		file string
		spec Spec
		args []string
	}{
		{"ompi-osu_latency.txt", latencySpec, nil},
		{"ompi-osu_latency-c.txt", latencySpec, []string{"-c"}},
		{"ompi-osu_latency-z.txt", latencySpec, []string{"-z"}},
		{"ompi-osu_latency-zlist.txt", latencySpec, []string{"-z50,99"}},
		{"ompi-osu_bw.txt", bandwidthSpec, nil},
		{"ompi-osu_bibw.txt", bothWaysSpec, nil},
		{"ompi-osu_multi_lat.txt", multiSpec, nil},
		{"ompi-osu_mbw_mr.txt", rateSpec, nil},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			want := golden(t, tt.file)
			o, err := tt.spec.Parse(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.pair(2); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			table := table{out: &out, spec: &tt.spec, options: &o}
			if err := table.header(tt.spec.title()); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(want) {
				if line == "\n" || line[0] == '#' {
					continue
				}
				if err := table.print(parseRow(t, &o, line)); err != nil {
					t.Fatal(err)
				}
			}
			got := strings.Replace(out.String(), " (verbena "+comm.Version+")\n", "\n", 1)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-C suite +ours)\n%s", diff)
			}
		})
	}
}

func parseRow(t *testing.T, o *Options, line string) *row {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		return v
	}
	fields := strings.Fields(line)
	r := &row{size: int(number(fields[0])), value: number(fields[1])}
	fields = fields[2:]
	if o.Rates {
		r.rate, fields = number(fields[0]), fields[1:]
	}
	for _, f := range fields {
		if f == "Pass" {
			r.valid = true
			continue
		}
		r.percentiles = append(r.percentiles, number(f))
	}
	return r
}

func TestTableFail(t *testing.T) {
	var out bytes.Buffer
	table := table{out: &out, spec: &latencySpec, options: &Options{Validate: true, Decimals: 2}}
	if err := table.print(&row{size: 8, value: 0.184}); err != nil {
		t.Fatal(err)
	}
	if want := "8                       0.18              Fail\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestTableDecimals(t *testing.T) {
	var out bytes.Buffer
	table := table{out: &out, spec: &latencySpec, options: &Options{Decimals: 4}}
	if err := table.print(&row{size: 8, value: 0.06184}); err != nil {
		t.Fatal(err)
	}
	if want := "8                     0.0618\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestHeaderComment(t *testing.T) {
	var out bytes.Buffer
	table := table{out: &out, spec: &latencySpec, options: new(Options)}
	if err := table.header("# T", "Clock: 1.0 ns per reading"); err != nil {
		t.Fatal(err)
	}
	want := "\n# T\n# Datatype: MPI_CHAR.\n# Clock: 1.0 ns per reading\n# Size       Avg Latency(us)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
