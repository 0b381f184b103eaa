package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// What is found depends on the machine; that it is looked at doesn't.
func TestDoctor(t *testing.T) {
	status, out, errs := verbrun(t, "doctor")
	if status != 0 && !strings.Contains(out, "problem") || status > 1 || errs != "" {
		t.Errorf("%d, %q", status, errs)
	}
	for _, check := range []string{"memlock", "single copy", "cores", "memory", "files", "network", "host name", "rdma"} {
		if !strings.Contains(out, "  "+check+" ") {
			t.Errorf("nothing about %s in\n%s", check, out)
		}
	}
	if status, _, errs := verbrun(t, "doctor", "more"); status != 2 || !strings.HasPrefix(errs, "verbrun: ") {
		t.Errorf("%d, %q", status, errs)
	}
	if status, _, errs := verbrun(t, "doctor", "--hostfile", "/no/such"); status != 2 || !strings.Contains(errs, "--hostfile: open /no/such") {
		t.Errorf("%d, %q", status, errs)
	}
	// A host that can't be reached, by a command that can't reach anything.
	status, out, _ = verbrun(t, "doctor", "--launch-agent", "false", "-host", "localhost,192.0.2.1")
	if status != 1 || !strings.Contains(out, "problem  hosts          192.0.2.1: false ended with status 1: try the same command by hand\n") {
		t.Errorf("%d\n%s", status, out)
	}
	// Elsewhere the word is a program's name.
	j := prepare(t, []string{"PATH=/no/such"}, "-n", "1", "doctor")
	if status := j.start().wait(); status != 127 {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

// doctorOn is a doctor on a virtual host.
func doctorOn(t *testing.T, b *testbed.Bed, args ...string) (status int, out string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "verbrun")
	// No symbolic link: other hosts are given the program's own path.
	text, err := os.ReadFile(self())
	if err == nil {
		err = os.WriteFile(name, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := b.Command(0, name, append([]string{"doctor"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	said, err := cmd.Output()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	if errs.Len() > 0 {
		t.Errorf("%q", errs.String())
	}
	return cmd.ProcessState.ExitCode(), string(said)
}

// Over ssh to virtual hosts: all is well, a firewall between two of them, a host that is
// cut off.
func TestDoctorOnHosts(t *testing.T) {
	testbed.Need(t, "hosts", "sshd", "nft")
	b := testbed.New(t, 3)
	b.SSH()
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		for i := range b.Hosts() {
			b.Hide(i, home) // what this machine's login shells do takes its time, or much longer
		}
	}
	status, out := doctorOn(t, b, "--host", "h0,h1,h2")
	if !strings.Contains(out, "ok       hosts          3 of 3 have this verbrun at this path") ||
		!strings.Contains(out, "ok       connections    6 made between 3 hosts, each way") || status != 0 {
		t.Errorf("%d\n%s", status, out)
	}
	b.Partition(1, 2)
	status, out = doctorOn(t, b, "--host", "h0,h1,h2")
	for _, way := range []string{"h1 to h2: ", "h2 to h1: "} {
		if status != 1 || !strings.Contains(out, "problem  connections    "+way) || !strings.Contains(out, "no answer") {
			t.Errorf("%d: %s:\n%s", status, way, out)
		}
	}
	if !strings.Contains(out, "ok       connections    4 made between 3 hosts") {
		t.Errorf("%s", out)
	}
	b.Cut(2)
	status, out = doctorOn(t, b, "--host", "h1,h2")
	if status != 1 || !strings.Contains(out, "problem  hosts          h2: ssh: ") || !strings.Contains(out, "1 of 2 have this verbrun") {
		t.Errorf("%d\n%s", status, out)
	}
}
