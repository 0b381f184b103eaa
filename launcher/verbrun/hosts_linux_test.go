package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This host by any of its names: no ssh, slots are enforced, ranks are as many as slots.
func TestLocalHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("localhost slots=1 max_slots=3\n127.0.0.1:1 # the same\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const show = `echo "$PMI_RANK of $PMI_SIZE, $MPI_LOCALRANKID of $MPI_LOCALNRANKS"`
	status, out, errs := verbrun(t, "--hostfile", file, "--display", "map", "sh", "-c", show)
	if status != 0 || errs != "localhost: 2 slots ("+file+":1), this host: ranks 0-1\n" ||
		!strings.Contains(out, "0 of 2, 0 of 2\n") || !strings.Contains(out, "1 of 2, 1 of 2\n") {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
	status, out, errs = verbrun(t, "-hostfile", file, "-oversubscribe", "-np", "3", "sh", "-c", show)
	if status != 0 || errs != "" || strings.Count(out, "of 3\n") != 3 {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
	// Without a hostfile nothing is refused.
	if status, out, _ := verbrun(t, "-n", "40", "--bind-to", "none", "echo", "x"); status != 0 || strings.Count(out, "x\n") != 40 {
		t.Errorf("%d, %q", status, out)
	}
}

// A host's own name need not be resolvable.
func TestDryRunHosts(t *testing.T) {
	status, out, errs := verbrun(t, "--dry-run", "--bind-to", "none", "--host", "localhost:1,192.0.2.1:2,u@nohost.invalid", "--map-by", "node", "-n", "4", "true")
	want := "localhost: 1 slot (--host), this host: rank 0\n" +
		"192.0.2.1: 2 slots (--host): ranks 1,3\n" +
		"u@nohost.invalid: slots not stated (--host): rank 2\n" +
		"rank 0: on localhost, not bound, cores " + allowedCores(t) + ": true\n" +
		"rank 1: on 192.0.2.1: true\nrank 2: on u@nohost.invalid: true\nrank 3: on 192.0.2.1: true\n"
	if status != 0 || errs != "" || out != want {
		t.Errorf("%d\n%s\nexpected\n%s\n%q", status, out, want, errs)
	}
}
