package harness

import (
	"context"
	"fmt"
)

// cpus is the table's line about where the two ranks are pinned; -1 is a rank
// that may run on several CPUs. A comparison is worth nothing without it.
func (r *run) cpus(ctx context.Context) (string, error) {
	mine, of1 := ownCPU(), 0
	if r.job.rank() == 1 {
		of1 = mine
	}
	of1Here, err := r.job.sum(ctx, int64(of1))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("CPUs: %d %d", mine, of1Here), nil
}
