package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// onBed is a verbrun on a virtual host.
func onBed(t *testing.T, b *testbed.Bed, host int, args ...string) *exec.Cmd {
	t.Helper()
	name := filepath.Join(t.TempDir(), "verbrun")
	if err := os.Symlink(self(), name); err != nil {
		t.Fatal(err)
	}
	return b.Command(host, name, args...)
}

func TestSSH(t *testing.T) {
	testbed.Need(t, "hosts", "sshd")
	b := testbed.New(t, 3)
	b.SSH()
	cmd := onBed(t, b, 0, "--host", "h0:2,h1:2,h2:2", "--verbose", "sh", "-c", "echo $PMI_RANK on $(hostname)")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	start := time.Now()
	out, err := cmd.Output()
	t.Logf("%v: %v\n%s\n%s", time.Since(start), err, out, errs.String())
	if err != nil || strings.Count(string(out), "on h") != 6 {
		t.Error("?")
	}
}
