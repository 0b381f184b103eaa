package osu_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/comm"
)

// The tables of the collectives, and every byte is right, at several numbers of ranks.
func TestCollectives(t *testing.T) {
	dir := commands(t)
	for name, title := range map[string]string{
		"bcast":     "Broadcast",
		"reduce":    "Reduce",
		"allreduce": "Allreduce",
		"alltoall":  "All-to-All Personalized Exchange",
		"allgather": "Allgather",
		"gather":    "Gather",
		"scatter":   "Scatter",
	} {
		t.Run(name, func(t *testing.T) {
			title := "# OSU MPI " + title + " Latency Test v7.4 (verbena " + comm.Version + ")"
			table(t, verbrun(t, dir, "3", name, strings.Fields("-m 8192:32768 -i 5 -x 1")...),
				"", title, "# Datatype: MPI_CHAR.", "# Size       Avg Latency(us)", "8192 N", "16384 N", "32768 N")
			table(t, verbrun(t, dir, "5", name, strings.Fields("-c -f -z50,99 -m 1:262144 -i 2 -x 1 -u 1")...), append([]string{
				"", title, "# Datatype: MPI_CHAR.",
				"# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation  P50 Tail Lat(us)  P99 Tail Lat(us)",
			}, rows(1, 262144, " N N N 2 Pass N N")...)...)
			table(t, verbrun(t, dir, "2", name, strings.Fields("-c -a alloc -m 65536:65536 -i 2 -x 1 -u 0")...),
				"", title, "# Datatype: MPI_CHAR.", "# Size       Avg Latency(us)        Validation", "65536 N Pass")
			got := verbrun(t, dir, "1", name)
			if got.status != 1 || got.stdout != "" || !strings.HasPrefix(got.stderr, "This test requires at least two processes\n") {
				t.Errorf("one rank: %+v", got)
			}
		})
	}
	t.Run("barrier", func(t *testing.T) {
		title := "# OSU MPI Barrier Latency Test v7.4 (verbena " + comm.Version + ")"
		table(t, verbrun(t, dir, "3", "barrier", "-i5"), "", title, "# Avg Latency(us)", "N")
		table(t, verbrun(t, dir, "4", "barrier", "-i5", "-f"),
			"", title, "# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations", "N N N 5")
		if got := verbrun(t, dir, "2", "barrier", "-c"); got.status != 1 || !strings.Contains(got.stderr, "Invalid option [-c]\n") {
			t.Errorf("-c: %+v", got)
		}
	})
}

// rows are those of all sizes from low to high, by doubling.
func rows(low, high int, values string) (all []string) {
	for size := low; size <= high; size *= 2 {
		all = append(all, strconv.Itoa(size)+values)
	}
	return all
}

// table compares a table, of which figures with decimals may be any: N.
func table(t *testing.T, got result, want ...string) {
	t.Helper()
	if got.status != 0 || got.stderr != "" {
		t.Fatalf("status %d, stderr %q", got.status, got.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	for i, line := range lines {
		if line != "" && line[0] != '#' {
			lines[i] = strings.Join(strings.Fields(regexp.MustCompile(`\d+\.\d\d\b`).ReplaceAllString(line, "N")), " ")
		}
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
