// Package hosts has the measurements of jobs on several hosts, beside the MPI
// implementations at hand. The hosts are virtual (internal/testbed): they share this
// machine's processors, so that ratios count and not times. Nothing runs unless it
// is asked for:
//
//	go test ./osu/peers/hosts -v -timeout 1h -args -measure
package hosts

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
	"github.com/verbena-mpi/verbena/internal/testbuild"
)

var (
	measure = flag.Bool("measure", false, "measure: without it nothing runs")
	rounds  = flag.Int("rounds", 5, "how often each side runs")
)

// asked skips a test that nobody has asked for.
func asked(t *testing.T, what ...string) {
	t.Helper()
	if !*measure {
		t.Skip("a measurement: -args -measure runs it")
	}
	testbed.Need(t, append(what, "sshd")...)
}

// build builds packages of this module, and returns their folder.
func build(t *testing.T, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := testbuild.Commands(dir, packages...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a command on the first host, and returns what it printed and how long
// that took.
func run(t *testing.T, b *testbed.Bed, limit time.Duration, argv ...string) (string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := b.CommandContext(ctx, 0, argv[0], argv[1:]...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out), took
}

// TestMessages compares latency and bandwidth between two hosts.
func TestMessages(t *testing.T) {
	asked(t)
	b := testbed.New(t, 2)
	b.SSH()
	compare := filepath.Join(build(t, "osu/peers/compare"), "compare")
	n := fmt.Sprint(*rounds)
	for _, bench := range []string{"latency", "bw"} {
		out, _ := run(t, b, 30*time.Minute, compare, "-bench", bench, "-hosts", "h0,h1",
			"-sizes", "8,1024,16384,65536,1048576", "-rounds", n, "-max-rounds", fmt.Sprint(2**rounds))
		_, _ = io.WriteString(os.Stdout, out)
	}
}

// TestStart compares how long it takes to start and end ranks on three hosts, by
// ssh. The two launchers take turns.
func TestStart(t *testing.T) {
	asked(t, "hydra")
	const hosts = 3
	b := testbed.New(t, hosts)
	b.SSH()
	dir := build(t, "launcher/verbrun", "osu/hello")
	verbrun, hello := filepath.Join(dir, "verbrun"), filepath.Join(dir, "hello")
	mpi := compileHello(t, dir)
	fmt.Printf("\nstart and end of a job on %d virtual hosts by ssh, ms: median (least to most) of %d\n", hosts, *rounds)
	for _, n := range []int{16, 64} {
		each := (n + hosts - 1) / hosts
		ours := []string{verbrun, "-n", fmt.Sprint(n), "--host", fmt.Sprintf("h0:%d,h1:%[1]d,h2:%[1]d", each)}
		hydra := []string{"mpiexec.hydra", "-n", fmt.Sprint(n), "-hosts", "h0,h1,h2", "-ppn", fmt.Sprint(each)}
		sides := []struct {
			name string
			argv []string
		}{
			{"verbrun, true", append(slices.Clone(ours), "/bin/true")},
			{"hydra, true", append(slices.Clone(hydra), "/bin/true")},
			{"verbrun, hello and barrier", append(slices.Clone(ours), hello)},
			{"hydra, the same of MPICH", append(slices.Clone(hydra), mpi)},
		}
		took := make([][]time.Duration, len(sides))
		for range *rounds {
			for i, s := range sides {
				_, d := run(t, b, time.Minute, s.argv...)
				took[i] = append(took[i], d)
			}
		}
		for i, s := range sides {
			slices.Sort(took[i])
			fmt.Printf("%3d ranks  %-28s %7.0f (%.0f to %.0f)\n", n, s.name,
				ms(took[i][len(took[i])/2]), ms(took[i][0]), ms(took[i][len(took[i])-1]))
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// compileHello compiles an MPI program that meets all others and ends.
func compileHello(t *testing.T, dir string) string {
	t.Helper()
	source, program := filepath.Join(dir, "hello.c"), filepath.Join(dir, "hello-mpich")
	text := "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mpicc.mpich", "-O2", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("mpicc.mpich: %v\n%s", err, out)
	}
	return program
}

// TestFirstContact measures 64 ranks on 8 hosts that all meet all others.
func TestFirstContact(t *testing.T) {
	asked(t)
	const hosts, each = 8, 8
	b := testbed.New(t, hosts)
	b.SSH()
	dir := build(t, "launcher/verbrun", "osu/first_contact")
	var list []string
	for h := range hosts {
		list = append(list, fmt.Sprintf("%s:%d", testbed.Name(h), each))
	}
	for range *rounds {
		out, took := run(t, b, 5*time.Minute, filepath.Join(dir, "verbrun"), "-n", fmt.Sprint(hosts*each),
			"--host", strings.Join(list, ","), filepath.Join(dir, "first_contact"))
		fmt.Printf("\n%d ranks on %d virtual hosts, %d processors; %.0f ms in all\n%s", hosts*each, hosts, runtime.NumCPU(), ms(took), out)
	}
}
