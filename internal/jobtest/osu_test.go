//go:build linux

package jobtest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbuild"
)

// The benchmarks find each byte right under all settings and placements.
func TestValidation(t *testing.T) {
	combine := pairwise
	if *long {
		combine = product
	}
	for _, c := range combine(
		[]string{"latency", "bw"},
		[]string{"srq", "peer"},
		// Direct from the heap would be another way, in truth.
		[]string{"auto heap", "auto alloc", "direct alloc", "stream heap", "stream alloc", "copy heap", "copy alloc"},
		[]string{"1", "2"},                // GOMAXPROCS
		[]string{"apart", "free", "same"}, // where the two ranks are
	) {
		command, recv, procs, place := c[0], c[1], c[3], c[4]
		read, memory, _ := strings.Cut(c[2], " ")
		t.Run(strings.Join(c, " "), func(t *testing.T) {
			s := spec{n: 2, env: []string{"VERBENA_RECV=" + recv, "VERBENA_READ=" + read, "GOMAXPROCS=" + procs}}
			switch place {
			case "apart":
				s.flags = []string{"--bind-to", "core"}
			case "free":
				s.flags = []string{"--bind-to", "none"}
			case "same":
				s.cpus = 1
			}
			args := []string{"-c", "-u", "1", "-x", "1", "-i", "10", "-a", memory}
			if command == "bw" {
				args = append(args, "-i", "2", "-W", "16")
			}
			if read == "stream" || testbuild.Race {
				args = append(args, "-i", "2") // streaming needs both sides to run at once
			}
			j := s.start(t, command, args...)
			if status := j.wait(); status != 0 || j.stderr.String() != "" {
				t.Errorf("status %d", status)
			}
			j.allPass()
			t.Log(time.Since(j.started))
		})
	}
}

// allPass checks that a table has all sizes, and each is right.
func (j *job) allPass() {
	j.t.Helper()
	size := 1
	for _, line := range j.stdout.lines() {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 3 || f[0] != strconv.Itoa(size) || f[2] != "Pass" {
			j.t.Errorf("unexpected row: %s", line)
		}
		size *= 2
	}
	if size != 8<<20 {
		j.t.Errorf("no more rows from %d B", size)
	}
}
