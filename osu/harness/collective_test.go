package harness

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// One wrong byte on one rank is found, in what is received or sent.
func TestCollectiveValidates(t *testing.T) {
	spec := Spec{Name: "allgather", Title: "OSU MPI Allgather Latency Test", Metric: Mean}
	for name, spoil := range map[string]func(send, recv []byte){
		"":                           nil,
		"receive buffer: byte 2 is":  func(_, recv []byte) { recv[2]++ },
		"receive buffer: byte 15 is": func(_, recv []byte) { recv[15]++ },
		"send buffer: byte 0 was":    func(send, _ []byte) { send[0]++ },
	} {
		t.Run(name, func(t *testing.T) {
			commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) error {
				calls := 0
				all := Collective{
					Send: 1, Recv: 2,
					From: func(block int) (rank, sent int) { return block, 0 },
					Step: func(ctx context.Context, send, recv []byte) error {
						err := coll.Allgather(ctx, c, send, recv)
						if calls++; calls == 4 && c.Rank() == 1 && spoil != nil {
							spoil(send, recv)
						}
						return err
					},
				}
				var stdout, stderr bytes.Buffer
				r := &run{spec: &spec, job: commJob{c}, all: &all, stdout: &stdout, stderr: &stderr}
				err := r.start(ctx, strings.Fields("-c -m 8:8 -i 3 -x 1 -u 0"))
				if spoil == nil {
					if err != nil || stderr.String() != "" {
						t.Errorf("%v, %s", err, stderr.String())
					}
					return nil
				}
				var status ExitStatus
				if !errors.As(err, &status) || status != 1 {
					t.Errorf("rank %d: %v, want status 1", c.Rank(), err)
				}
				if c.Rank() == 1 && !strings.Contains(stderr.String(), name) {
					t.Errorf("%q, want %q", stderr.String(), name)
				}
				if c.Rank() == 0 && !strings.Contains(stdout.String(), "Fail\nDATA VALIDATION ERROR: allgather exited with status 1 on message size 8.\n") {
					t.Errorf("%s", stdout.String())
				}
				return nil
			})
		})
	}
}
