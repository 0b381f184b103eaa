// Package osu_test runs the benchmark commands as their users do.
package osu_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/internal/testbuild"
)

// bin is the folder of what was built, once for all tests.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if runtime.GOOS == "linux" && !testing.Short() {
			var err error
			bin, err = build()
			defer func() { _ = os.RemoveAll(bin) }()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return m.Run()
	}())
}

// build builds the launcher and the benchmarks.
func build() (string, error) {
	dir, err := os.MkdirTemp("", "verbena-osu-")
	if err != nil {
		return "", err
	}
	packages := []string{"launcher/verbrun"}
	for _, name := range []string{"latency", "bw", "bibw", "mbw_mr", "multi_lat", "bcast", "reduce", "allreduce", "alltoall", "allgather", "gather", "scatter", "barrier", "init", "hello", "first_contact", "latency_persistent", "bw_persistent", "partitioned_latency"} {
		packages = append(packages, "osu/"+name)
	}
	return dir, testbuild.Commands(dir, packages...)
}

// commands returns the folder of the launcher and the benchmarks.
func commands(t *testing.T) string {
	t.Helper()
	if bin == "" {
		t.Skip("builds and runs commands, on Linux, and not in short mode")
	}
	return bin
}

// result is what a command printed, and its exit status.
type result struct {
	stdout, stderr string
	status         int
}

// verbrun runs a command on n ranks.
func verbrun(t *testing.T, dir, n, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	argv := append([]string{"-n", n, filepath.Join(dir, name)}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "verbrun"), argv...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %s: no end\n%s%s", name, strings.Join(args, " "), stdout.String(), stderr.String())
	}
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func TestTables(t *testing.T) {
	dir := commands(t)
	tests := []struct {
		name, args string
		columns    string
		values     string // of each row, after the size
		comment    string // between title and columns
	}{
		{"latency", "", "# Size       Avg Latency(us)", "N", ""},
		{"latency", "-c -z50,99", "# Size       Avg Latency(us)        Validation  P50 Tail Lat(us)  P99 Tail Lat(us)", "N Pass N N", ""},
		{"latency", "-c -a alloc", "# Size       Avg Latency(us)        Validation", "N Pass", ""},
		{"bw", "", "# Size      Bandwidth (MB/s)", "N", ""},
		{"bw", "-c -b multiple", "# Size      Bandwidth (MB/s)        Validation", "N Pass", ""},
		{"bw", "-c -a alloc -z", "# Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P90 Tail BW(MB/s) P99 Tail BW(MB/s)", "N Pass N N N", ""},
		{"bibw", "", "# Size      Bandwidth (MB/s)", "N", ""},
		{"bibw", "-c -b multiple", "# Size      Bandwidth (MB/s)        Validation", "N Pass", ""},
		{"latency_persistent", "", "# Size       Avg Latency(us)", "N", ""},
		{"latency_persistent", "-c", "# Size       Avg Latency(us)        Validation", "N Pass", ""},
		{"bw_persistent", "", "# Size      Bandwidth (MB/s)", "N", ""},
		{"bw_persistent", "-c -b multiple", "# Size      Bandwidth (MB/s)        Validation", "N Pass", ""},
		{"partitioned_latency", "", "# Size       Avg Latency(us)", "N", ""},
		{"partitioned_latency", "-c", "# Size       Avg Latency(us)        Validation", "N Pass", ""},
		{"multi_lat", "", "# Size       Avg Latency(us)", "N", ""},
		{"multi_lat", "-c -z99 -p 1", "# Size       Avg Latency(us)        Validation  P99 Tail Lat(us)", "N Pass N", ""},
		{"mbw_mr", "", "# Size                  MB/s        Messages/s", "N N", "# [ pairs: 1 ] [ window size: 64 ]"},
		{"mbw_mr", "-c -R 0 -W 8", "# Size                  MB/s        Validation", "N Pass", "# [ pairs: 1 ] [ window size: 8 ]"},
	}
	titles := map[string]string{
		"latency":             "OSU MPI Latency Test",
		"bw":                  "OSU MPI Bandwidth Test",
		"bibw":                "OSU MPI Bi-Directional Bandwidth Test",
		"latency_persistent":  "OSU MPI Latency Persistent Test",
		"bw_persistent":       "OSU MPI Bandwidth Persistent Test",
		"partitioned_latency": "OSU MPI Partitioned Latency Test",
		"multi_lat":           "OSU MPI Multi Latency Test",
		"mbw_mr":              "OSU MPI Multiple Bandwidth / Message Rate Test",
	}
	number := regexp.MustCompile(`\d+\.\d\d\b`)
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.args, func(t *testing.T) {
			args := append([]string{"-m", "16384:65536", "-i", "10", "-x", "2"}, strings.Fields(tt.args)...)
			got := verbrun(t, dir, "2", tt.name, args...)
			if got.status != 0 {
				t.Fatalf("status %d, stderr %q", got.status, got.stderr)
			}
			want := []string{"", "# " + titles[tt.name] + " v7.4 (verbena " + comm.Version + ")", "# Datatype: MPI_CHAR.", tt.columns}
			if tt.comment != "" { // and no blank line
				want = []string{want[1], tt.comment, want[2], want[3]}
			}
			for _, size := range []string{"16384", "32768", "65536"} {
				want = append(want, size+" "+tt.values)
			}
			lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
			for i := 4; i < len(lines); i++ {
				lines[i] = strings.Join(strings.Fields(number.ReplaceAllString(lines[i], "N")), " ")
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRefusals: rank 0 alone says what is wrong, before the job ends.
func TestRefusals(t *testing.T) {
	dir := commands(t)
	tests := []struct {
		n, name, args, stdout, stderr string
	}{
		{"2", "latency", "-q", "Usage: latency [options]\n", "Invalid option [-q]\n"},
		{"2", "latency", "-i 0", "Usage: latency [options]\n", "Invalid number of iterations [-i 0]\n"},
		{"1", "latency", "", "", "This test requires exactly two processes\n"},
		{"3", "latency", "", "", "This test requires exactly two processes\n"},
		{"3", "bibw", "", "", "This test requires exactly two processes\n"},
		{"1", "multi_lat", "", "", "This test requires at least two processes\n"},
		{"1", "mbw_mr", "", "", "This test requires at least two processes\n"},
		{"3", "mbw_mr", "-p 2", "Usage: mbw_mr [options]\n", "Invalid number of pairs [-p 2]\n"},
		{"2", "multi_lat", "-W 4", "Usage: multi_lat [options]\n", "Invalid option [-W]\n"},
		{"2", "hello", "-m 8", "Usage: hello [options]\n", "Invalid option [-m]\n"},
	}
	for _, tt := range tests {
		got := verbrun(t, dir, tt.n, tt.name, strings.Fields(tt.args)...)
		if got.status != 1 {
			t.Errorf("%s ranks, %s %q: status %d", tt.n, tt.name, tt.args, got.status)
		}
		if strings.Count(got.stdout, "Usage") != strings.Count(tt.stdout, "Usage") || !strings.HasPrefix(got.stdout, tt.stdout) {
			t.Errorf("%s ranks, %s %q: stdout %q, want %q", tt.n, tt.name, tt.args, got.stdout, tt.stdout)
		}
		if strings.Count(got.stderr, tt.stderr) != 1 {
			t.Errorf("%s ranks, %s %q: stderr %q, want %q once", tt.n, tt.name, tt.args, got.stderr, tt.stderr)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	dir := commands(t)
	if got := verbrun(t, dir, "2", "bw", "-h"); got.status != 0 || strings.Count(got.stdout, "Usage: bw [options]\n") != 1 || got.stderr != "" {
		t.Errorf("-h: %+v", got)
	}
	want := "# OSU MPI Bandwidth Test v7.4 (verbena " + comm.Version + ")\n"
	if got := verbrun(t, dir, "2", "bw", "--version"); got.status != 0 || got.stdout != want || got.stderr != "" {
		t.Errorf("--version: %+v, want %q", got, want)
	}
}

// TestLines: the commands without a table print a title and a line.
func TestLines(t *testing.T) {
	dir := commands(t)
	for name, want := range map[string]string{
		"init":          `^# OSU MPI Init Test v7\.4 \(verbena .*\)\nnprocs: 3, min: \d+ ms, max: \d+ ms, avg: \d+ ms\n$`,
		"first_contact": `^# First Contact Test v7\.4 \(verbena .*\)\nnprocs: 3, connected peers of a rank: min 2, max 2\n(.* min +\d+\.\d+ +median +\d+\.\d+ +max +\d+\.\d+ (ms|MiB)\n){4}$`,
		"hello":         `^# OSU MPI Hello World Test v7\.4 \(verbena .*\)\nThis is a test with 3 processes\n$`,
	} {
		got := verbrun(t, dir, "3", name)
		if got.status != 0 || got.stderr != "" || !regexp.MustCompile(want).MatchString(got.stdout) {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}

// TestIdle: a rank without a pair waits for the others.
func TestIdle(t *testing.T) {
	dir := commands(t)
	for _, args := range []string{"", "-z", "-c"} {
		got := verbrun(t, dir, "3", "multi_lat", strings.Fields("-m 8:16 -i 20 -x 2 "+args)...)
		if got.status != 0 || got.stderr != "" || strings.Count(got.stdout, "\n8 ") != 1 || strings.Count(got.stdout, "\n16 ") != 1 {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// TestVaried: each size has a value for each window, in two tables.
func TestVaried(t *testing.T) {
	dir := commands(t)
	got := verbrun(t, dir, "5", "mbw_mr", strings.Fields("-V -c -m 4096:16384 -i 4 -x 1")...)
	if got.status != 0 || got.stderr != "" || !strings.Contains(got.stdout, "# [ pairs: 2 ] [ window size: varied ]\n") {
		t.Errorf("%+v", got)
	}
	rows := regexp.MustCompile(`(?m)^(4096|8192|16384)( +\d+\.\d\d){8}$`).FindAllString(got.stdout, -1)
	if len(rows) != 6 {
		t.Errorf("%d rows, want 6:\n%s", len(rows), got.stdout)
	}
}
