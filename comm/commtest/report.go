package commtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

// report says what went wrong: the limit, the ranks that failed by themselves in the
// order of their deaths, those that failed for their sake, and those that don't end.
// It says whether all went well.
func (j *job) report() (ok bool) {
	j.t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	deaths := j.local.Deaths()
	if j.skipped(deaths) {
		j.t.SkipNow()
	}
	ok = !j.late
	if j.late {
		j.t.Errorf("commtest: not done after %v. What the ranks wait for:\n%s", j.limit, j.dump)
	}
	var victims []int
	for i, d := range deaths {
		ok = false
		r := &j.ranks[d.Rank]
		switch {
		case !r.over:
			continue // see below
		case (i > 0 || j.late) && r.victim():
			victims = append(victims, d.Rank)
			continue
		}
		line, more := r.what(d.Why)
		if more != "" {
			line += "\n\n" + more
		}
		j.t.Errorf("commtest: rank %d of %d: %s", d.Rank, len(j.ranks), line)
	}
	for _, v := range victims {
		line, _, _ := strings.Cut(j.ranks[v].err.Error(), "\n")
		j.t.Errorf("commtest: rank %d of %d, for that: %s", v, len(j.ranks), line)
	}
	stuck := false
	for i := range j.ranks {
		if r := &j.ranks[i]; !r.over {
			line, _ := r.what("")
			j.t.Errorf("commtest: rank %d of %d %s", i, len(j.ranks), line)
			stuck = true
		}
	}
	if stuck {
		j.t.Errorf("commtest: all goroutines:\n%s", stacks())
	}
	return ok && !stuck
}

// skipped says whether a rank has called t.Skip, and nothing else went wrong.
func (j *job) skipped(deaths []bootstrap.Death) bool {
	return len(deaths) > 0 && !j.t.Failed() && j.t.Skipped() && j.ranks[deaths[0].Rank].left != ""
}

// victim says whether a rank failed because another had, or its context had ended.
func (r *rank) victim() bool {
	if r.err == nil {
		return false
	}
	_, peer := errors.AsType[*comm.PeerError](r.err)
	_, dead := errors.AsType[*bootstrap.DeadError](r.err)
	return peer || dead || errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded)
}

// waiting says what each rank waits for, a line for each operation.
func (j *job) waiting() string {
	var b strings.Builder
	for i := range j.ranks {
		j.mu.Lock()
		over := j.ranks[i].over
		j.mu.Unlock()
		ops := j.local.Pending(i)
		switch {
		case over:
			fmt.Fprintf(&b, "  rank %d: nothing, it has ended\n", i)
		case len(ops) == 0:
			fmt.Fprintf(&b, "  rank %d: no message: it runs, or waits for something else\n", i)
		}
		for _, o := range ops {
			fmt.Fprintf(&b, "  rank %d: %s\n", i, o.Text(o.Place))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// stacks are those of all goroutines.
func stacks() string {
	for size := 64 << 10; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= 16<<20 {
			return string(buf[:n])
		}
	}
}
