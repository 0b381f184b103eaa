// Package osu_test runs the benchmark commands as their users do.
package osu_test

import (
	"bytes"
	"context"
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
)

// commands builds the launcher and the benchmarks, and returns their folder.
func commands(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the launcher runs ranks on Linux only")
	}
	if testing.Short() {
		t.Skip("builds and runs commands")
	}
	dir := t.TempDir()
	for _, pkg := range []string{"../launcher/verbrun", "./latency", "./bw"} {
		if out, err := exec.Command("go", "build", "-o", dir+"/", pkg).CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", pkg, err, out)
		}
	}
	return dir
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
	}{
		{"latency", "", "# Size       Avg Latency(us)", "N"},
		{"latency", "-c -z50,99", "# Size       Avg Latency(us)        Validation  P50 Tail Lat(us)  P99 Tail Lat(us)", "N Pass N N"},
		{"latency", "-c -a alloc", "# Size       Avg Latency(us)        Validation", "N Pass"},
		{"bw", "", "# Size      Bandwidth (MB/s)", "N"},
		{"bw", "-c -b multiple", "# Size      Bandwidth (MB/s)        Validation", "N Pass"},
		{"bw", "-c -a alloc -z", "# Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P90 Tail BW(MB/s) P99 Tail BW(MB/s)", "N Pass N N N"},
	}
	titles := map[string]string{"latency": "OSU MPI Latency Test", "bw": "OSU MPI Bandwidth Test"}
	number := regexp.MustCompile(`\d+\.\d\d\b`)
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.args, func(t *testing.T) {
			args := append([]string{"-m", "16384:65536", "-i", "10", "-x", "2"}, strings.Fields(tt.args)...)
			got := verbrun(t, dir, "2", tt.name, args...)
			if got.status != 0 {
				t.Fatalf("status %d, stderr %q", got.status, got.stderr)
			}
			want := []string{"", "# " + titles[tt.name] + " v7.4 (verbena " + comm.Version + ")", "# Datatype: MPI_CHAR.", tt.columns}
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
		n, args, stdout, stderr string
	}{
		{"2", "-q", "Usage: latency [options]\n", "Invalid option [-q]\n"},
		{"2", "-i 0", "Usage: latency [options]\n", "Invalid number of iterations [-i 0]\n"},
		{"1", "", "", "This test requires exactly two processes\n"},
		{"3", "", "", "This test requires exactly two processes\n"},
	}
	for _, tt := range tests {
		got := verbrun(t, dir, tt.n, "latency", strings.Fields(tt.args)...)
		if got.status != 1 {
			t.Errorf("%s ranks, %q: status %d", tt.n, tt.args, got.status)
		}
		if strings.Count(got.stdout, "Usage") != strings.Count(tt.stdout, "Usage") || !strings.HasPrefix(got.stdout, tt.stdout) {
			t.Errorf("%s ranks, %q: stdout %q, want %q", tt.n, tt.args, got.stdout, tt.stdout)
		}
		if strings.Count(got.stderr, tt.stderr) != 1 {
			t.Errorf("%s ranks, %q: stderr %q, want %q once", tt.n, tt.args, got.stderr, tt.stderr)
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
