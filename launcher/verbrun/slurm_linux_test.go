package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// inAllocation makes a job of a shell script in an allocation of all hosts of a bed, in
// which verbrun is in PATH.
func inAllocation(t *testing.T, b *testbed.Bed, env []string, script string) *job {
	t.Helper()
	j := onBed(t, b, env)
	dir := t.TempDir()
	if err := os.Symlink(self(), filepath.Join(dir, "verbrun")); err != nil {
		t.Fatal(err)
	}
	inside := b.Command(0, "salloc", fmt.Sprintf("--nodes=%d", b.Hosts()), "--ntasks-per-node=2", "--quiet", "sh", "-c", "PATH="+dir+":$PATH; "+script)
	inside.Env, inside.Stdout, inside.Stderr, inside.WaitDelay = j.cmd.Env, j.cmd.Stdout, j.cmd.Stderr, j.cmd.WaitDelay
	j.cmd = inside
	return j
}

func slurmBed(t *testing.T, hosts int) *testbed.Bed {
	t.Helper()
	testbed.Need(t, "hosts", "slurm")
	b := testbed.New(t, hosts)
	b.Slurm()
	return b
}

// In a Slurm allocation hosts and slots are its own, and srun starts the agents: all
// bytes pass in both directions, at once.
func TestSlurm(t *testing.T) {
	b := slurmBed(t, 3)
	j := inAllocation(t, b, nil, `verbrun sh -c 'echo $PMI_RANK of $PMI_SIZE on $(hostname)'`)
	status := j.start().finish(false)
	lines := strings.Split(strings.TrimSpace(j.out.String()), "\n")
	slices.Sort(lines)
	if want := []string{"0 of 6 on h0", "1 of 6 on h0", "2 of 6 on h1", "3 of 6 on h1", "4 of 6 on h2", "5 of 6 on h2"}; status != 0 || !slices.Equal(lines, want) || j.err.String() != "" {
		t.Errorf("%d, %q, %q", status, lines, j.err.String())
	}

	data, said := random(8 << 20)
	j = inAllocation(t, b, []string{"VERBRUN_TEST_RANK=sum"}, "exec verbrun --map-by node -n 3 --stdin all "+self())
	j.cmd.Stdin = bytes.NewReader(data)
	if status := j.start().finish(false); status != 0 || !strings.Contains(j.out.String(), said(0)) || !strings.Contains(j.out.String(), said(1)) || !strings.Contains(j.out.String(), said(2)) {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}

	j = inAllocation(t, b, nil, `verbrun --host h1,h2 -n 2 --map-by node sh -c 'test $PMI_RANK = 1 || exec sleep 60; exit 7'`)
	if status := j.start().finish(false); status != 7 || !strings.HasPrefix(j.err.String(), "verbrun: rank 1 on h2 (pid ") {
		t.Errorf("%d, %q", status, j.err.String())
	}
	j = inAllocation(t, b, []string{"VERBRUN_TEST_RANK=exchange"}, "verbrun "+self())
	if status := j.start().finish(false); status != 0 || strings.Count(j.out.String(), " of 6\n") != 6 {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// A node that isn't part of the allocation any more, or a launcher that is killed.
func TestSlurmFails(t *testing.T) {
	b := slurmBed(t, 2)
	j := inAllocation(t, b, []string{"SLURM_TEST=1"}, `SLURM_JOB_NODELIST=h[0-1],nowhere SLURM_NODELIST=h[0-1],nowhere SLURM_NNODES=3 SLURM_JOB_NUM_NODES=3 SLURM_TASKS_PER_NODE='2(x3)' verbrun true`)
	if status := j.start().finish(false); status != 123 || !strings.Contains(j.err.String(), "verbrun: nowhere: srun exited with status 1 before the agent answered: srun: error: ") {
		t.Errorf("%d, %q", status, j.err.String())
	}

	j = inAllocation(t, b, nil, "exec verbrun sh -c '"+strings.ReplaceAll(stubborn, "'", `'\''`)+"'").start()
	j.ready(4)
	killed := false
	for _, pid := range j.processes() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(cmdline), "verbena-supervisor\x00") {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil
		}
	}
	if status := j.finish(false); !killed || status != 125 {
		t.Errorf("%v, %d, %q", killed, status, j.err.String())
	}
	j.clean(5 * time.Second)

	j = inAllocation(t, b, []string{"VERBENA_PEER_TIMEOUT=2s"}, "exec verbrun sh -c '"+stay+"'").start()
	j.ready(4)
	b.Kill(1)
	if status := j.finish(false); status != 123 || !strings.Contains(j.err.String(), "verbrun: host h1 is gone: ") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}
