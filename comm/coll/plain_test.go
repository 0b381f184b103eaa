package coll_test

import (
	"context"
	"sync"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

// runPlain is run without the checks that commtest turns on: they take memory, and
// messages take other ways with them.
func runPlain(t *testing.T, n int, c comm.Config, f comm.RunFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	local := bootstrap.NewLocal(n, "")
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			if err := comm.Run(bootstrap.WithJob(ctx, local.Job(r)), c, f); err != nil {
				t.Errorf("rank %d of %d: %v", r, n, err)
				local.Kill(r, "")
			}
		})
	}
	wg.Wait()
}
