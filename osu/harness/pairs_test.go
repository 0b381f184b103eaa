package harness

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/verbena-mpi/verbena/comm"
)

func TestPlaces(t *testing.T) {
	both, sends, receives := place{sends: true, receives: true}, place{sends: true}, place{receives: true}
	at := func(p place, peer int) place { p.peer = peer; return p }
	for _, tt := range []struct {
		spec  Spec
		pairs int
		want  []place
	}{
		{latencySpec, 1, []place{at(both, 1), at(both, 0)}},
		{bandwidthSpec, 1, []place{at(sends, 1), at(receives, 0)}},
		{rateSpec, 2, []place{at(sends, 2), at(sends, 3), at(receives, 0), at(receives, 1), {peer: -1}}},
		{multiSpec, 1, []place{at(both, 1), at(both, 0), {peer: -1}}},
	} {
		for rank, want := range tt.want {
			if got := tt.spec.place(rank, tt.pairs); got != want || got.idle() != (want.peer < 0) {
				t.Errorf("%s, %d pairs: rank %d is %+v, want %+v", tt.spec.Name, tt.pairs, rank, got, want)
			}
		}
	}
}

// gathered is a job in which the ranks took certain times.
type gathered struct {
	fakeJob
	took []int64
}

func (g *gathered) gather(context.Context, int64) ([]int64, error) { return g.took, nil }

// A latency is the mean over the pairs; a bandwidth is that of all pairs, in the
// slowest one's time. What the second ranks took doesn't count.
func TestOverall(t *testing.T) {
	ms := int64(time.Millisecond)
	for _, tt := range []struct {
		spec Spec
		want float64
	}{
		{multiSpec, 1500},         // µs: 2 and 4 ms, halved
		{rateSpec, 2 * 1e6 / 4e3}, // 10⁶ bytes from each, in 4 ms
	} {
		r := &run{spec: &tt.spec, job: &gathered{took: []int64{2 * ms, 4 * ms, 100 * ms, 1, 100 * ms}}}
		r.options = Options{Pairs: 2, Window: 10}
		got, err := r.overall(t.Context(), 100_000, 1, 0)
		if err != nil || got != tt.want {
			t.Errorf("%s: %v, %v; want %v", tt.spec.Name, got, err, tt.want)
		}
	}
}

func TestPairs(t *testing.T) {
	for _, tt := range []struct{ asked, ranks, want int }{{0, 2, 1}, {0, 5, 2}, {1, 5, 1}, {2, 4, 2}, {0, 1, 0}, {2, 3, -1}} {
		o := Options{Pairs: tt.asked}
		err := o.pair(tt.ranks)
		if tt.want < 0 {
			if err == nil || err.Error() != "Invalid number of pairs [-p 2]" {
				t.Errorf("%+v: %v", tt, err)
			}
		} else if err != nil || o.Pairs != tt.want {
			t.Errorf("%+v: %d, %v", tt, o.Pairs, err)
		}
	}
}

// The C suite's tables of varied windows, printed again from their values.
func TestVariedGolden(t *testing.T) {
	want := golden(t, "ompi-osu_mbw_mr-V.txt")
	o, err := rateSpec.Parse([]string{"-V"})
	if err != nil {
		t.Fatal(err)
	}
	o.Pairs = 1
	var out strings.Builder
	if err := (&table{out: &out, spec: &rateSpec, options: &o}).header(rateSpec.title()); err != nil {
		t.Fatal(err)
	}
	bandwidths, rates, _ := strings.Cut(want, rateProfile)
	for i, half := range []string{bandwidths, rates} {
		if i == 1 {
			out.WriteString(rateProfile + string(variedHeader()))
		}
		for line := range strings.Lines(half) {
			if line != "\n" && line[0] != '#' {
				// A row of eight values looks like one with as many percentiles.
				r := parseRow(t, &Options{}, line)
				out.Write(variedRow(r.size, 2, append([]float64{r.value}, r.percentiles...)))
			}
		}
	}
	got := strings.Replace(out.String(), " (verbena "+comm.Version+")\n", "\n", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-C suite +ours)\n%s", diff)
	}
}

// With -V each size is measured with each window, and -R 0 leaves the rates out.
func TestVary(t *testing.T) {
	for _, rates := range []bool{true, false} {
		args := "-V -c -u 1 -m 8:16 -i 2 -x 1"
		if !rates {
			args += " -R 0"
		}
		got := runPair(rateSpec, 2, strings.Fields(args), nil)
		for rank, o := range got {
			if o.err != nil || o.stderr != "" {
				t.Errorf("rank %d: %v, %s", rank, o.err, o.stderr)
			}
			if want := 2 * len(varied) * 3 * 2; o.body.steps != want {
				t.Errorf("rank %d did %d iterations, want %d", rank, o.body.steps, want)
			}
		}
		if out := got[0].stdout; strings.Count(out, "\n8 ") != strings.Count(out, "\n16 ") || strings.Contains(out, "Message Rate Profile") != rates {
			t.Errorf("-R %v:\n%s", rates, out)
		}
	}
	if _, err := rateSpec.Parse([]string{"-V", "-z"}); err == nil {
		t.Error("-V with -z is not refused")
	}
}
