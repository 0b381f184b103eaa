package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestExchange(t *testing.T) {
	status, out, errs := ranks(t, "exchange", "-n", "8")
	if status != 0 || errs != "" {
		t.Fatalf("%d, %q", status, errs)
	}
	for r := range 8 {
		if !strings.Contains(out, fmt.Sprintf("%d of 8\n", r)) {
			t.Errorf("no rank %d in %q", r, out)
		}
	}
}

func TestAbort(t *testing.T) {
	status, out, errs := ranks(t, "abort:1", "-n", "3")
	if status != 7 || out != "about to abort\n" || !strings.HasSuffix(errs, ") called abort with status 7: no more = 100% useful reasons\n") || !strings.Contains(errs, "verbrun: rank 1 (pid ") {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}

// Ranks that leave without a word, or while others wait for them.
func TestLeaving(t *testing.T) {
	for as, line := range map[string]string{
		"unfinished:1": "exited with status 0 after joining the job and before finalizing\n",
		"unfinished":   "exited with status 0 after joining the job and before finalizing\n",
		"finished:1":   ", and rank 0 waits for it in a barrier\n",
	} {
		status, out, errs := ranks(t, as, "-n", "2")
		if status != 1 || out != "" || !strings.HasSuffix(errs, line) || !strings.Contains(errs, "verbrun: rank ") {
			t.Errorf("%s: %d, %q, %q", as, status, out, errs)
		}
	}
	// Rank 1 never joins.
	script := fmt.Sprintf(`test $PMI_RANK = 0 || exit 0; exec %q`, self())
	j := prepare(t, []string{"VERBRUN_TEST_RANK=exchange"}, "-n", "2", "sh", "-c", script).start()
	if status := j.wait(); status != 1 || !strings.HasSuffix(j.err.String(), " exited with status 0, and rank 0 waits for it in a barrier\n") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

// A job within a rank of a job.
func TestNested(t *testing.T) {
	inner := fmt.Sprintf(`exec -a verbrun %q -n 2 sh -c 'echo $PMI_RANK of $PMI_SIZE'`, self())
	status, out, errs := verbrun(t, "-n", "3", "bash", "-c", inner)
	if status != 0 || strings.Count(out, "0 of 2\n") != 3 || strings.Count(out, "1 of 2\n") != 3 {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}

const mpichProgram = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank, size, sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("%d of %d, sum %d\n", rank, size, sum);
	fflush(stdout);
	if (argc > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
	if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}`

// A C program of another MPI's starts as well.
func TestMPICH(t *testing.T) {
	cc, err := exec.LookPath("mpicc.mpich")
	if err != nil {
		t.Skip("mpicc.mpich isn't installed (Debian: libmpich-dev)")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "hello.c"), filepath.Join(dir, "hello")
	if err := os.WriteFile(src, []byte(mpichProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	status, out, errs := verbrun(t, "-n", "3", bin)
	if status != 0 || errs != "" || strings.Count(out, " of 3, sum 3\n") != 3 {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
	status, _, errs = verbrun(t, "-n", "2", bin, "5")
	if status != 5 || !strings.Contains(errs, "verbrun: rank 1 (pid ") || !strings.Contains(errs, "called abort with status 5") {
		t.Errorf("%d, %q", status, errs)
	}
}
