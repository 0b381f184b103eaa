package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What would be started can be copied into a shell, and nothing is started.
func TestDryRun(t *testing.T) {
	pkg := program(t, helloProgram)
	dir := t.TempDir()
	file := filepath.Join(dir, "made")
	status, out, errs := verbrun(t, "--dry-run", "--build-flags", "-race", "-bind-to", "none", "--pprof=cpu",
		"-n", "2", "-x", "A=b c", "--wdir", dir, "touch", file, ":", "-n", "1", pkg, "it's")
	allowed := allowedCores(t)
	want := "build " + pkg + ": cd " + pkg + " && go build -race .\n" +
		"rank 0: not bound, cores " + allowed + ": cd " + dir + " && env VERBENA_PPROF=cpu 'A=b c' touch " + file + "\n" +
		"rank 1: not bound, cores " + allowed + ": cd " + dir + " && env VERBENA_PPROF=cpu 'A=b c' touch " + file + "\n" +
		"rank 2: not bound, cores " + allowed + ": env VERBENA_PPROF=cpu " + pkg + " 'it'\\''s'\n"
	if status != 0 || out != want || errs != "" {
		t.Errorf("%d\n%s\nexpected\n%s\n%q", status, out, want, errs)
	}
	if m, _ := filepath.Glob(file); len(m) > 0 {
		t.Error("it was run")
	}
	if status, out, errs := verbrun(t, "--dry-run", "-n", "2", "no-such-program"); status != 127 || out != "" || !strings.Contains(errs, "not found") {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}

func allowedCores(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", "grep Cpus_allowed_list: /proc/self/status | cut -f2").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestReportBindings(t *testing.T) {
	first, _, _ := strings.Cut(strings.ReplaceAll(allowedCores(t), "-", ","), ",")
	for mode, want := range map[string]string{
		"none": "verbrun: rank 0: not bound, cores " + allowedCores(t) + "\n",
		"core": "verbrun: rank 0: core " + first + "\n",
	} {
		if status, out, errs := verbrun(t, "--report-bindings", "--bind-to", mode, "-n", "1", "echo", "x"); status != 0 || out != "x\n" || errs != want {
			t.Errorf("%s: %d, %q, %q, expected %q", mode, status, out, errs, want)
		}
	}
}

// What it reports is so: a rank on a NUMA node may use all its cores.
func TestBindNUMA(t *testing.T) {
	status, out, errs := verbrun(t, "--report-bindings", "--bind-to=numa", "-n", "1", "sh", "-c", "grep Cpus_allowed_list: /proc/self/status | cut -f2")
	said, ok := strings.CutPrefix(errs, "verbrun: rank 0: core")
	if said = strings.TrimLeft(said, "s "); status != 0 || !ok || said != out {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}

// Only as the first word: elsewhere it is a program's name.
func TestInfoCommand(t *testing.T) {
	status, out, errs := verbrun(t, "info")
	if status != 0 || errs != "" || !strings.Contains(out, "VERBENA_EAGER_LIMIT") || !strings.Contains(out, "cores    "+allowedCores(t)+" allowed") {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
	if status, _, errs := verbrun(t, "info", "more"); status != 2 || !strings.HasPrefix(errs, "verbrun: ") {
		t.Errorf("%d, %q", status, errs)
	}
	j := prepare(t, []string{"PATH=/no/such"}, "-n", "1", "info")
	if status := j.start().wait(); status != 127 || j.err.String() != "verbrun: info: not found in PATH\n" {
		t.Errorf("%d, %q", status, j.err.String())
	}
}
