package bootstrap

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// spread is a job of plain processes on the hosts of a bed.
type spread struct {
	t     *testing.T
	bed   *testbed.Bed
	hosts []int // by rank
	env   []string
}

func newSpread(t *testing.T, bed *testbed.Bed, meet string, hosts ...int) *spread {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("sixteen bytes or more"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &spread{t, bed, hosts, []string{"VERBENA_MEET=" + meet, "VERBENA_SECRET_FILE=" + file, fmt.Sprint("VERBENA_SIZE=", len(hosts))}}
}

func (s *spread) command(ctx context.Context, rank int, as string) *exec.Cmd {
	cmd := s.bed.CommandContext(ctx, s.hosts[rank], os.Args[0])
	cmd.Env = append(append(os.Environ(), "BOOTSTRAP_TEST_RANK="+as, fmt.Sprint("VERBENA_RANK=", rank)), s.env...)
	return cmd
}

// Ranks of several hosts meet, by a name or an address of either family.
func TestMeetingHosts(t *testing.T) {
	testbed.Need(t, "hosts")
	bed := testbed.New(t, 3)
	for _, meet := range []string{"h0:4711", "h0-6:4711", bed.Addr(0).String() + ":4711", "[" + bed.Addr6(0).String() + "]:4711"} {
		s := newSpread(t, bed, meet, 0, 1, 2, 2, 1, 0)
		var g errgroup.Group
		for r := range s.hosts {
			g.Go(func() error {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				out, err := s.command(ctx, r, "exchange").CombinedOutput()
				if want := fmt.Sprintf("%d of 6 agrees\n", r); err != nil || string(out) != want {
					return fmt.Errorf("%s: rank %d: %q, %w", meet, r, out, err)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Rank 0 is not where the address is: it says so, and the others what they met.
func TestMeetingElsewhere(t *testing.T) {
	testbed.Need(t, "hosts")
	bed := testbed.New(t, 2)
	s := newSpread(t, bed, "h1:4711", 0, 1)
	s.env = append(s.env, "VERBENA_MEET_TIMEOUT=1s")
	wants := [][]string{
		{"VERBENA_MEET=h1:4711: rank 1 has not come", "h1 is 10.77.2.11, which is not an address of this host, where rank 0 is"},
		{"rank 0 was not met within 1s", "connection refused"},
	}
	var g errgroup.Group
	for r, want := range wants {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			out, _ := s.command(ctx, r, "place").CombinedOutput()
			for _, w := range want {
				if !strings.Contains(string(out), w) {
					return fmt.Errorf("rank %d: %s\nexpected %q", r, out, w)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// A host is cut off, without a sound, or killed. Those that wait hear of it, and so do
// those that were cut off.
func TestMeetingLostHost(t *testing.T) {
	testbed.Need(t, "hosts")
	for what, lose := range map[string]func(*testbed.Bed){
		"cut":    func(b *testbed.Bed) { b.Cut(2) },
		"killed": func(b *testbed.Bed) { b.Kill(2) },
	} {
		t.Run(what, func(t *testing.T) {
			bed := testbed.New(t, 3)
			s := newSpread(t, bed, "h0:4711", 0, 1, 2, 2)
			s.env = append(s.env, "VERBENA_PEER_TIMEOUT=3s")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var errs [4]strings.Builder
			var outs [4]*bufio.Reader
			var cmds [4]*exec.Cmd
			for r := range s.hosts {
				as := "wait"
				if r == 2 {
					as = "hold"
				}
				cmds[r] = s.command(ctx, r, as)
				cmds[r].Stderr = &errs[r]
				in, err := cmds[r].StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = in.Close() }()
				out, err := cmds[r].StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				outs[r] = bufio.NewReader(out)
				if err := cmds[r].Start(); err != nil {
					t.Fatal(err)
				}
			}
			for r, out := range outs {
				if line, err := out.ReadString('\n'); line != "joined\n" {
					t.Errorf("rank %d: %q, %v", r, line, err)
				}
			}
			start := time.Now()
			lose(bed)
			for r, want := range map[int]string{0: "(10.77.2.12:", 1: "(10.77.2.12:", 3: "rank 0, which keeps the meeting, can't be reached any more"} {
				if r == 3 && what == "killed" {
					continue
				}
				line, err := outs[r].ReadString('\n')
				if !strings.Contains(line, want) {
					t.Errorf("rank %d: %q, %v; expected %q", r, line, err, want)
				}
			}
			if took := time.Since(start); took > 12*time.Second {
				t.Errorf("it took %v", took)
			} else {
				t.Logf("heard after %v", took)
			}
			cancel()
			for _, cmd := range cmds {
				_ = cmd.Wait()
			}
		})
	}
}

// Hydra's ranks on several hosts, with a descriptor and by a port.
func TestHydraHosts(t *testing.T) {
	testbed.Need(t, "hosts", "sshd", "hydra")
	bed := testbed.New(t, 3)
	bed.SSH()
	for _, args := range [][]string{nil, {"-pmi-port"}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := bed.CommandContext(ctx, 0, "mpiexec.hydra", append(args, "-hosts", "h0,h1,h2", "-ppn", "2", "-n", "6", os.Args[0])...)
		cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK=exchange")
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%v: %v: %s", args, err, out)
		}
		for r := range 6 {
			if want := fmt.Sprintf("%d of 6 agrees\n", r); !strings.Contains(string(out), want) {
				t.Errorf("%v: no %q in %q", args, want, out)
			}
		}
	}
}

// Slurm's ranks: with PMI on any number of hosts, without it on one, and on several with
// an address.
func TestSlurmHosts(t *testing.T) {
	testbed.Need(t, "hosts", "slurm")
	bed := testbed.New(t, 3)
	bed.Slurm()
	meeting := newSpread(t, bed, "h0:4711", 0).env[:2]
	for _, c := range []struct {
		env  []string
		args string
		n    int    // ranks
		err  string // that all say instead
	}{
		{args: "-N3 -n6 --mpi=pmi2", n: 6},
		{args: "-N1 -n3", n: 3},
		{args: "-N1 -n3 --mpi=pmix", n: 3},
		{args: "-N1 -n1", n: 1},
		{args: "-N3 -n6", n: 6, env: meeting},
		{args: "-N3 -n6", err: "srun started ranks on more than one host, without PMI: use srun --mpi=pmi2"},
		{args: "-N3 -n6 --mpi=pmix", err: "use srun --mpi=pmi2 -n N program, or verbrun -n N program; or pass VERBENA_MEET"},
		{args: "-N3 -n6 --mpi=pmix", n: 6, env: meeting},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := bed.CommandContext(ctx, 0, "srun", append(strings.Fields(c.args), os.Args[0])...)
		cmd.Env = append(append(os.Environ(), "BOOTSTRAP_TEST_RANK=exchange"), c.env...)
		out, err := cmd.CombinedOutput()
		cancel()
		if (err == nil) != (c.err == "") || !strings.Contains(string(out), c.err) {
			t.Errorf("srun %s: %v: %s", c.args, err, out)
		}
		for r := range c.n {
			if want := fmt.Sprintf("%d of %d agrees\n", r, c.n); !strings.Contains(string(out), want) {
				t.Errorf("srun %s: no %q in %q", c.args, want, out)
			}
		}
	}
}
