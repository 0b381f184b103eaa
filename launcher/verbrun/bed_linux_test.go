package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// sshBed are virtual hosts that reach each other by ssh.
func sshBed(t *testing.T, hosts int) *testbed.Bed {
	t.Helper()
	testbed.Need(t, "hosts", "sshd")
	b := testbed.New(t, hosts)
	b.SSH()
	return b
}

// onBed makes a verbrun on host 0 of a bed. All hosts see the same files, and the
// machine sees the processes of all.
func onBed(t *testing.T, b *testbed.Bed, env []string, args ...string) *job {
	t.Helper()
	name := filepath.Join(t.TempDir(), "verbrun")
	if err := os.Symlink(self(), name); err != nil {
		t.Fatal(err)
	}
	j := prepare(t, env)
	inside := b.Command(0, name, args...)
	inside.Env, inside.Stdout, inside.Stderr, inside.WaitDelay = j.cmd.Env, j.cmd.Stdout, j.cmd.Stderr, j.cmd.WaitDelay
	j.cmd = inside
	return j
}
