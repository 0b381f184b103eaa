package main

import (
	"strings"
	"testing"
)

// In a shell that srun has started, which is a step of one task, the hosts are the
// allocation's all the same. Several tasks are not told to use all hosts each.
func TestSlurmStep(t *testing.T) {
	b := slurmBed(t, 3)
	j := inAllocation(t, b, nil, `srun --nodes=1 --ntasks=1 verbrun --dry-run --map-by ppr:1 true; `+
		`srun --nodes=2 --ntasks=2 verbrun -n 1 sh -c 'echo $PMI_RANK of $PMI_SIZE on $(hostname)'`)
	status := j.start().finish(false)
	out := j.out.String()
	for _, want := range []string{
		"h0: 64 slots (SLURM_JOB_NODELIST), this host: rank 0\n", "h1: 64 slots (SLURM_JOB_NODELIST): rank 1\n",
		"h2: 64 slots (SLURM_JOB_NODELIST): rank 2\n", "0 of 1 on h0\n", "0 of 1 on h1\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if status != 0 || j.err.String() != "" || t.Failed() {
		t.Errorf("%d, %s, %q", status, out, j.err.String())
	}
}
