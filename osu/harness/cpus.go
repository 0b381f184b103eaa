package harness

import (
	"context"
	"fmt"
)

// cpus is the table's line about where the ranks are pinned; -1 is a rank that may
// run on several CPUs. A comparison is worth nothing without it.
func (r *run) cpus(ctx context.Context) (string, error) {
	all, err := r.job.gather(ctx, int64(ownCPU()))
	if err != nil {
		return "", err
	}
	line := "CPUs:"
	for _, cpu := range all {
		line += fmt.Sprintf(" %d", cpu)
	}
	return line, nil
}
