//go:build unix

package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// party is a job of plain processes that know an address.
type party struct {
	t       *testing.T
	size    int
	address string
	env     []string
}

func newParty(t *testing.T, size int) *party {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("sixteen bytes or more"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &party{t, size, address, []string{
		"VERBENA_MEET=" + address, "VERBENA_SECRET_FILE=" + file, fmt.Sprint("VERBENA_SIZE=", size),
	}}
}

// rank runs a rank to its end.
func (p *party) rank(rank int, as string, env ...string) (string, int) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK="+as)
	cmd.Env = append(append(append(cmd.Env, p.env...), fmt.Sprint("VERBENA_RANK=", rank)), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Error(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// all runs all ranks, each as it is told.
func (p *party) all(as func(rank int) string) (outs []string, statuses []int) {
	outs, statuses = make([]string, p.size), make([]int, p.size)
	var g errgroup.Group
	for r := range p.size {
		g.Go(func() error {
			if as(r) != "" {
				outs[r], statuses[r] = p.rank(r, as(r))
			}
			return nil
		})
	}
	_ = g.Wait()
	return outs, statuses
}

func TestMeetingProcesses(t *testing.T) {
	for _, c := range []struct {
		size     int
		as, want string
	}{
		{1, "exchange", "0 of 1 agrees\n"},
		{2, "exchange", "%d of 2 agrees\n"},
		{7, "exchange", "%d of 7 agrees\n"},
		{2, "child", "child: 0 of 1\n"},
		{2, "early child", "child: 0 of 1\n"},
	} {
		outs, statuses := newParty(t, c.size).all(func(int) string { return c.as })
		for r, out := range outs {
			want := c.want
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, r)
			}
			if out != want || statuses[r] != 0 {
				t.Errorf("%d ranks, %s: rank %d: status %d: %q, expected %q", c.size, c.as, r, statuses[r], out, want)
			}
		}
	}
}

// As in Kubernetes: the rank is the index of the pod.
func TestMeetingIndex(t *testing.T) {
	p := newParty(t, 2)
	var g errgroup.Group
	for r := range p.size {
		g.Go(func() error {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(append(os.Environ(), "BOOTSTRAP_TEST_RANK=place", fmt.Sprint("JOB_COMPLETION_INDEX=", r)), p.env...)
			out, err := cmd.CombinedOutput()
			if want := fmt.Sprintf("%d of 2\n", r); err != nil || string(out) != want {
				return fmt.Errorf("%q, %w; expected %q", out, err, want)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// Whoever is there hears who isn't.
func TestMeetingMissing(t *testing.T) {
	p := newParty(t, 5)
	p.env = append(p.env, "VERBENA_MEET_TIMEOUT=3s")
	outs, statuses := p.all(func(r int) string {
		if r == 1 || r == 3 {
			return ""
		}
		return "place"
	})
	for _, r := range []int{0, 2, 4} {
		if want := fmt.Sprintf("bootstrap: rank %d: VERBENA_MEET=%s: ranks 1, 3 have not come in time (3 of 5", r, p.address); !strings.Contains(outs[r], want) || statuses[r] != 1 {
			t.Errorf("rank %d: status %d: %s\nexpected %q", r, statuses[r], outs[r], want)
		}
	}
}

// The end of a rank ends the others' waiting, and they hear whose it was.
func TestMeetingDeath(t *testing.T) {
	for dead, want := range map[int]string{
		0: "rank 0, which keeps the meeting, has ended", 2: "rank 2 (127.0.0.1:",
	} {
		start := time.Now()
		outs, statuses := newParty(t, 4).all(func(r int) string {
			if r == dead {
				return "exit"
			}
			return "barrier"
		})
		for r, out := range outs {
			if r == dead {
				continue
			}
			if !strings.Contains(out, want) || statuses[r] != 1 {
				t.Errorf("rank %d died; rank %d: status %d: %s\nexpected %q", dead, r, statuses[r], out, want)
			}
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("rank %d died, and it took %v", dead, took)
		}
	}
}

// A rank that aborts, rank 0 too, is heard by those in a barrier.
func TestMeetingAbort(t *testing.T) {
	for _, who := range []int{0, 1} {
		outs, statuses := newParty(t, 3).all(func(r int) string {
			if r == who {
				return "abort"
			}
			return "barrier"
		})
		for r, out := range outs {
			want, status := fmt.Sprintf("rank %d aborted the job with status 7: for a test", who), 1
			if r == who {
				want, status = fmt.Sprintf("rank %d: abort with status 7: for a test", who), 9
			}
			if !strings.Contains(out, want) || statuses[r] != status {
				t.Errorf("rank %d aborts; rank %d: status %d: %s\nexpected %q", who, r, statuses[r], out, want)
			}
		}
	}
}

// A pod that was restarted while the job runs is refused.
func TestMeetingRejoin(t *testing.T) {
	p := newParty(t, 2)
	cmds := make([]*exec.Cmd, 2)
	var stdins [2]interface{ Close() error }
	for r := range cmds {
		cmds[r] = exec.CommandContext(t.Context(), os.Args[0])
		cmds[r].Env = append(append(os.Environ(), "BOOTSTRAP_TEST_RANK=hold", fmt.Sprint("VERBENA_RANK=", r)), p.env...)
		in, err := cmds[r].StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdins[r] = in
		out, err := cmds[r].StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmds[r].Start(); err != nil {
			t.Fatal(err)
		}
		if r == 1 { // both have joined when one has
			if _, err := out.Read(make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, status := p.rank(1, "place")
	if want := "rank 1 has been in this job already, from 127.0.0.1:"; !strings.Contains(out, want) || status != 1 {
		t.Errorf("status %d: %s\nexpected %q", status, out, want)
	}
	for _, in := range stdins {
		_ = in.Close()
	}
	for r, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func TestMeetingSecretFile(t *testing.T) {
	p := newParty(t, 2)
	open := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(open, bytes.Repeat([]byte("x"), 20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{open: "its mode is 0644: others can read", open + "x": "no such file"} {
		out, status := p.rank(0, "place", "VERBENA_SECRET_FILE="+file)
		if status != 1 || !strings.Contains(out, want) || !strings.Contains(out, "VERBENA_SECRET_FILE") {
			t.Errorf("status %d: %s\nexpected %q", status, out, want)
		}
	}
}

// mpirun runs this binary as ranks under Open MPI.
func mpirun(t *testing.T, as string, env []string, args ...string) (string, int) {
	t.Helper()
	if _, err := exec.LookPath("mpirun.openmpi"); err != nil {
		t.Skip("mpirun.openmpi isn't installed (Debian: openmpi-bin)")
	}
	if runtime.GOOS != "linux" {
		t.Skip("a meeting without an address needs Linux")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mpirun.openmpi", append(append([]string{"--oversubscribe"}, args...), os.Args[0])...)
	// Two mpiruns that start at once may fail to make their common folder.
	cmd.Env = append(append(os.Environ(), "BOOTSTRAP_TEST_RANK="+as, "TMPDIR="+t.TempDir(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// Ranks of Open MPI's mpirun on one host meet without being told where, and with an
// address there.
func TestMpirun(t *testing.T) {
	p := newParty(t, 4)
	for _, c := range []struct {
		n    int
		env  []string
		args []string
	}{
		{1, nil, nil},
		{4, nil, nil},
		{4, p.env[:2], []string{"-x", "VERBENA_MEET", "-x", "VERBENA_SECRET_FILE"}},
	} {
		out, status := mpirun(t, "exchange", c.env, append([]string{"-n", fmt.Sprint(c.n)}, c.args...)...)
		if status != 0 {
			t.Errorf("%v: status %d: %s", c, status, out)
		}
		for r := range c.n {
			if want := fmt.Sprintf("%d of %d agrees\n", r, c.n); !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %q", c, want, out)
			}
		}
	}
}

// Two of mpirun's jobs at once, and programs one after the other in one job, don't
// mix.
func TestMpirunJobs(t *testing.T) {
	var g errgroup.Group
	for range 2 {
		g.Go(func() error {
			if out, status := mpirun(t, "exchange", nil, "-n", "2"); status != 0 || strings.Count(out, "agrees") != 2 {
				return fmt.Errorf("status %d: %s", status, out)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	out, status := mpirun(t, "exchange", nil, "-n", "3", "sh", "-c", `"$0" && "$0" && "$0"`)
	if status != 0 || strings.Count(out, "agrees") != 9 {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestMpirunChild(t *testing.T) {
	out, status := mpirun(t, "early child", nil, "-n", "2")
	if status != 0 || strings.Count(out, "child: 0 of 1\n") != 2 {
		t.Errorf("status %d: %s", status, out)
	}
}
