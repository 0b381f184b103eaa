package commtest

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/gostack"
)

// rank is what became of one.
type rank struct {
	over  bool
	err   error  // that it returned
	panic any    // that it died of
	left  string // the call with which it left: t.FailNow, …
	at    string // where
	stack string // of a panic
}

// run is a rank's life.
func (j *job) run(number int) {
	ended := rank{over: true}
	returned := false
	defer func() {
		why := ""
		if !returned {
			ended.panic = recover() // nil: it left by Goexit
			ended.stack = string(debug.Stack())
			if ended.panic == nil {
				ended.left, ended.at = leaving(ended.stack)
			}
			why = "it ended without returning"
		}
		j.mu.Lock()
		j.ranks[number] = ended
		j.mu.Unlock()
		if ended.err != nil || !returned {
			j.local.Kill(number, why)
		}
	}()
	ctx := bootstrap.WithJob(j.ctx, j.local.Job(number))
	ended.err = comm.Run(ctx, j.config, func(_ context.Context, c *comm.Comm) error { return j.f(j.ctx, c) })
	returned = true
}

// leaving finds the call that ended a goroutine, and the program's line that made
// it.
func leaving(stack string) (call, at string) {
	call = "runtime.Goexit"
	for _, g := range gostack.Parse(stack) {
		for _, f := range g.Frames {
			switch {
			case f.Func == "runtime/debug.Stack", f.InPackage("runtime"), strings.HasPrefix(f.Func, pkg+".(*job).run"):
			case strings.HasPrefix(f.Func, "testing.(*common)."):
				call = "t." + strings.TrimPrefix(f.Func, "testing.(*common).")
			case strings.HasPrefix(f.Func, abort):
				call = "World.Abort"
			default:
				return call, f.Place()
			}
		}
	}
	return call, "?"
}

const (
	module = "github.com/verbena-mpi/verbena/"
	pkg    = module + "comm/commtest"
	abort  = module + "comm.(*World).Abort"
)

// what says how the rank ended, in a line, and what else there is to say.
func (r *rank) what(why string) (line, more string) {
	switch {
	case !r.over:
		return fmt.Sprintf("has not ended %v after its context", afterEnd), ""
	case r.err != nil:
		return r.err.Error(), ""
	case r.panic != nil:
		return fmt.Sprintf("panic: %v", r.panic), r.stack
	case r.left == "World.Abort":
		return fmt.Sprintf("%s at %s: %s", r.left, r.at, why), ""
	}
	return fmt.Sprintf("ended by %s at %s", r.left, r.at), ""
}
