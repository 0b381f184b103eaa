package hosttest

import (
	"regexp"
	"strings"
	"testing"
)

// program is what each way has to start, and what it prints when all is right.
type program struct {
	name, args string
	each       int // ranks for each host; 0: as many as make two
	rows       int // that say Pass
	want       string
}

const small = "-c -u 1 -x 1 -i 3 -W 4 -m 1:131072"

var programs = []program{
	{name: "ring", each: 2, want: `\d+ ranks add up to \d+`},
	{name: "heat2d", each: 2, want: `200 steps on \d+ x \d+ blocks: mean temperature \d+\.\d+, last change \d+\.\d+, as in one block`},
	{name: "latency", args: "-c -u 1 -x 1 -i 3 -m 1:131072", rows: 18, want: "# OSU MPI Latency Test"},
	{name: "bw", args: small, rows: 18, want: "# OSU MPI Bandwidth Test"},
	{name: "bibw", args: small, rows: 18, want: "# OSU MPI Bi-Directional Bandwidth Test"},
	{name: "mbw_mr", args: small, each: 2, rows: 18, want: "# [ pairs: "},
}

var passes = regexp.MustCompile(`(?m) Pass$`)

// check looks at what a job of the program has printed.
func (p program) check(t *testing.T, j *job) {
	t.Helper()
	if status := j.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
	out := j.stdout()
	if n := len(passes.FindAllString(out, -1)); n != p.rows {
		t.Errorf("%d rows say Pass, want %d", n, p.rows)
	}
	if p.rows > 0 {
		if strings.Count(out, p.want) != 1 {
			t.Errorf("no %q", p.want)
		}
	} else if !regexp.MustCompile("^" + p.want + "\n$").MatchString(out) {
		t.Errorf("want %q", p.want)
	}
}

// Each way starts each program, on three hosts or as many as the program takes. One
// that takes ten seconds to begin starts one program only, unless there is time.
func TestWays(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			b := lab(t, 3, w.needs...)
			for i, p := range programs {
				if w.slow && i > 0 && !*long {
					break
				}
				t.Run(p.name, func(t *testing.T) {
					s := shape{3, p.each}
					switch {
					case w.alone:
						s = shape{1, 2}
					case p.each == 0:
						s = shape{2, 1}
					}
					p.check(t, w.start(t, b, s, nil, p.name, strings.Fields(p.args)...))
				})
			}
		})
	}
}
