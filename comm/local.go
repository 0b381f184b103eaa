package comm

import (
	"context"
	"fmt"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/gostack"
)

// initLocal is Init for a rank that is a goroutine among the ranks of its process
// (commtest). Nothing of the process is touched.
func initLocal(ctx context.Context, job *bootstrap.Job, s settings, log *logrus.Logger) (*World, error) {
	w, err := newWorld(ctx, job, s, log)
	if err != nil {
		job.Abort(1, "")
		return nil, fmt.Errorf("comm: rank %d: Init: %w", job.Rank, err)
	}
	job.Local().Attach(job.Rank, member{w})
	return w, nil
}

// member is what a world does for such a job.
type member struct{ w *World }

// Ended implements bootstrap.Member.
func (m member) Ended(rank int, how string) { m.w.ended(rank, how) }

// Die implements bootstrap.Member.
func (m member) Die() { m.w.abandon() }

// Pending implements bootstrap.Member.
func (m member) Pending() []control.Op {
	text, _ := stacks()
	at := findWaits(gostack.Parse(text))
	m.w.eng.Lock()
	defer m.w.eng.Unlock()
	if m.w.closed {
		return nil
	}
	ops, _ := m.w.pending(at)
	return ops
}

// abandon is shut for a rank that has failed: to its peers it is dead, and has not
// finished.
func (w *World) abandon() {
	w.eng.Lock()
	if !w.closed {
		w.dieDevices()
	}
	w.eng.Unlock()
	w.shut()
}
