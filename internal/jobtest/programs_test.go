//go:build linux

package jobtest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// each runs f for 2 and 4 ranks with either kind of receive queue.
func each(t *testing.T, program string, ranks []int, f func(t *testing.T, s spec)) {
	for _, n := range ranks {
		for _, recv := range []string{"srq", "peer"} {
			t.Run(program+" "+strconv.Itoa(n)+" "+recv, func(t *testing.T) {
				f(t, spec{n: n, env: []string{"VERBENA_RECV=" + recv}})
			})
		}
	}
}

// Every example checks what it has computed.
func TestExamples(t *testing.T) {
	for program, want := range map[string]string{
		"ring":     `^(2 ranks add up to 1|4 ranks add up to 6)$`,
		"pi":       `^pi is 3\.14159265359, by [24] ranks$`,
		"heat2d":   `^200 steps on [12] x 2 blocks: mean temperature \d+\.\d+, last change \d+\.\d+, as in one block$`,
		"farm":     `^9592 primes below 100000, by [24] ranks$`,
		"pipeline": `^40 blocks through [24] stages$`,
		"flood":    `^\d+ messages of 64 B waited and took -?\d+\.\d MB at most; [13]00000 came in order$`,
	} {
		each(t, program, []int{2, 4}, func(t *testing.T, s spec) {
			j := s.start(t, program)
			if status := j.wait(); status != 0 || j.stderr.String() != "" {
				t.Errorf("status %d", status)
			}
			if out := j.stdout.lines(); len(out) != 1 || !regexp.MustCompile(want).MatchString(out[0]) {
				t.Errorf("want %s", want)
			}
		})
	}
}

// Every benchmark prints all of its rows, and finds each byte right where it can
// look.
func TestBenchmarks(t *testing.T) {
	sweep := strings.Fields("-c -u 1 -x 1 -i 3 -m 1:131072")
	for _, b := range []struct {
		program string
		ranks   []int
		args    []string
		rows    int // that say Pass
		line    string
	}{
		{"latency", []int{2}, sweep, 18, "# OSU MPI Latency Test"},
		{"bw", []int{2}, append(sweep, "-W", "16"), 18, "# OSU MPI Bandwidth Test"},
		{"bibw", []int{2}, append(sweep, "-W", "16"), 18, "# OSU MPI Bi-Directional Bandwidth Test"},
		{"mbw_mr", []int{2, 4}, append(sweep, "-W", "16"), 18, "# [ pairs: "},
		{"multi_lat", []int{2, 4}, sweep, 18, "# OSU MPI Multi Latency Test"},
		{"init", []int{2, 4}, nil, 0, "nprocs: "},
		{"hello", []int{2, 4}, nil, 0, "This is a test with "},
	} {
		each(t, b.program, b.ranks, func(t *testing.T, s spec) {
			j := s.start(t, b.program, b.args...)
			if status := j.wait(); status != 0 || j.stderr.String() != "" {
				t.Errorf("status %d", status)
			}
			passed := 0
			for _, line := range j.stdout.lines() {
				if strings.HasSuffix(line, "              Pass") {
					passed++
				}
			}
			if passed != b.rows || j.stdout.count(b.line) != 1 {
				t.Errorf("%d rows say Pass, want %d, and %q once", passed, b.rows, b.line)
			}
		})
	}
}
