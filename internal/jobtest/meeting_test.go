//go:build linux

package jobtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ended is what a process left.
type ended struct {
	out    string
	status int
}

// plainly runs a program as n plain processes that know a meeting address.
func plainly(t *testing.T, n int, program string, args ...string) []ended {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), usual)
	defer cancel()
	all := make([]ended, n)
	var g sync.WaitGroup
	for r := range n {
		g.Go(func() {
			cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
			cmd.Env = append(environ(), "VERBENA_MEET="+address, "VERBENA_SECRET_FILE="+secret,
				fmt.Sprint("VERBENA_RANK=", r), fmt.Sprint("VERBENA_SIZE=", n))
			cmd.WaitDelay = 5 * time.Second
			out, _ := cmd.CombinedOutput()
			all[r] = ended{string(out), cmd.ProcessState.ExitCode()}
		})
	}
	g.Wait()
	return all
}

// Programs run without any launcher.
func TestMeeting(t *testing.T) {
	for _, c := range []struct {
		n       int
		program string
		args    []string
		want    string // of rank 0
	}{
		{1, "ring", nil, "1 ranks add up to 0"},
		{4, "ring", nil, "4 ranks add up to 6"},
		{4, "heat2d", nil, "200 steps on 2 x 2 blocks"},
		{2, "latency", []string{"-m", "1:64", "-i", "100", "-x", "10"}, "# OSU MPI Latency Test"},
		{2, "ranks", []string{"pingpong", "-n", "100"}, "pid "},
	} {
		for r, e := range plainly(t, c.n, c.program, c.args...) {
			if e.status != 0 || r == 0 && !strings.Contains(e.out, c.want) {
				t.Errorf("%d × %s: rank %d: status %d: %s", c.n, c.program, r, e.status, e.out)
			}
		}
	}
}

// The others hear of a rank's end without having met it, and go on.
func TestMeetingSurvive(t *testing.T) {
	for _, how := range []string{"close", "kill"} {
		const n = 5
		for r, e := range plainly(t, n, "ranks", "survive", how) {
			if r < n-1 && (e.status != 0 || !strings.Contains(e.out, "survived")) {
				t.Errorf("%s: rank %d: status %d: %s", how, r, e.status, e.out)
			}
		}
	}
}

// A rank that fails ends the job: there is no launcher to do it.
func TestMeetingAbort(t *testing.T) {
	const n = 4
	for how, why := range map[string]string{
		"abort": "seven is enough", "status": "wrapped: seven is enough",
	} {
		for _, who := range []int{0, n - 1} {
			start := time.Now()
			for r, e := range plainly(t, n, "ranks", "end", how, fmt.Sprint(who)) {
				want := fmt.Sprintf("rank %d ends: rank %d has aborted the job with status 7: %s", r, who, why)
				if r == who {
					want = fmt.Sprintf("rank %d: abort with status 7: %s", r, why)
				}
				if e.status != 7 || !strings.Contains(e.out, want) {
					t.Errorf("%s: rank %d: status %d: %s\nexpected %q", how, r, e.status, e.out, want)
				}
			}
			if took := time.Since(start); took > usual/2 {
				t.Errorf("%s of rank %d: it took %v", how, who, took)
			}
		}
	}
}

// A rank that dies without a word is missed by those that wait for it.
func TestMeetingDeath(t *testing.T) {
	const n = 3
	for _, who := range []int{0, n - 1} {
		for r, e := range plainly(t, n, "ranks", "end", "exit", fmt.Sprint(who)) {
			want := fmt.Sprintf("rank %d", who)
			if r != who && (e.status == 0 || !strings.Contains(e.out, want)) {
				t.Errorf("rank %d: status %d: %s\nexpected %q", r, e.status, e.out, want)
			}
		}
	}
}

// The same programs run under Open MPI's launcher, on one host, as they are.
func TestMpirun(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		t.Skip("mpirun.openmpi isn't installed (Debian: openmpi-bin)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), usual)
	defer cancel()
	run := func(n string, args ...string) (string, int) {
		cmd := exec.CommandContext(ctx, mpirun, append([]string{"--oversubscribe", "-n", n}, args...)...)
		cmd.Env = append(environ(), "TMPDIR="+t.TempDir(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		cmd.WaitDelay = 5 * time.Second
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := run("4", filepath.Join(bin, "ring")); status != 0 || !strings.Contains(out, "4 ranks add up to 6") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := run("2", filepath.Join(bin, "ranks"), "pingpong", "-n", "100"); status != 0 || strings.Count(out, "pid ") != 2 {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := run("3", filepath.Join(bin, "ranks"), "end", "status"); status != 7 || !strings.Contains(out, "seven is enough") {
		t.Errorf("status %d: %s", status, out)
	}
}
