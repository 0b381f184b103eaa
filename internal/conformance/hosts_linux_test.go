package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/internal/testbed"
	"github.com/verbena-mpi/verbena/internal/testbuild"
)

// The whole table between processes on two virtual hosts: one rank on each, and two on
// each, of which those of one host talk over shared memory.
func TestBetweenHosts(t *testing.T) {
	testbed.Need(t, "sshd")
	if testing.Short() {
		t.Skip("builds and runs commands: not in short mode")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := testbuild.Commands(dir, "launcher/verbrun"); err != nil {
		t.Fatal(err)
	}
	b := testbed.New(t, 2)
	b.SSH()
	for _, each := range []int{1, 2} {
		for _, queue := range queues {
			t.Run(fmt.Sprintf("%d on each/%s", each, queue), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*limit)
				defer cancel()
				cmd := b.CommandContext(ctx, 0, filepath.Join(dir, "verbrun"), "--host", fmt.Sprintf("h0:%d,h1:%[1]d", each),
					"--tag-output", self, "-test.run=^TestAsRank$", "-test.count=1", "-test.timeout="+(2*limit).String())
				cmd.Env = append(os.Environ(), folderEnv+"="+t.TempDir(), queueEnv+"="+queue)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// What TestBetweenHosts tells its ranks: a folder for their marks, and their queues.
const (
	folderEnv = "CONFORMANCE_FOLDER"
	queueEnv  = "CONFORMANCE_QUEUE"
)

// TestAsRank is a rank of TestBetweenHosts.
func TestAsRank(t *testing.T) {
	dir := os.Getenv(folderEnv)
	if dir == "" {
		t.Skip("a rank of TestBetweenHosts")
	}
	p := place{queue: os.Getenv(queueEnv), device: device{name: "between", verbs: "tcp", inline: 4048}}
	err := comm.Run(t.Context(), p.config(), func(ctx context.Context, c *comm.Comm) error {
		if c.Size() == 4 {
			p.device.hosts = 2
		}
		for i, q := range c.World().Info().Peers {
			if want := i == c.Rank() || c.Size() == 4 && i == c.Rank()^1; q.SameHost != want {
				return fmt.Errorf("rank %d is on the same host: %v", i, q.SameHost)
			}
		}
		for _, b := range behaviours() {
			for _, p.order = range []order{posted, unexpected} {
				for _, p.size = range sizes {
					if err := p.between(ctx, c, b, dir); err != nil {
						return fmt.Errorf("%s: %v: %w", b.name, p, err)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// between runs a behaviour with the other processes.
func (p place) between(ctx context.Context, c *comm.Comm, b behaviour, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return p.meet(ctx, c, b, func(pairing, lower int) *handshake {
		return newHandshake(dir, fmt.Sprintf("%s.%v.%s.%d.%d", b.name, p.order, p.size.name, pairing, lower))
	})
}
