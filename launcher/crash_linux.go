package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/verbena-mpi/verbena/internal/gostack"
)

// One rule decides which traces are printed: the runtime of a rank that crashes
// writes its trace to the rank's own standard error, and that is the one to be
// shown; the copy in the link's file is only read. Of several ranks that crash the
// trace of the one that the job's end is blamed on is shown, and the others get a
// line each. The copy is printed where the rank's standard error goes elsewhere.

// crash is what is known of a rank's crash.
type crash struct {
	gostack.Crash
	copy []byte // of the trace, if it isn't on the rank's standard error
}

// crashed says whether, and how, a rank has crashed. Its streams have ended.
func (r *rank) crashed() (crash, bool) {
	if !r.reaped || r.status == 0 {
		return crash{}, false
	}
	c, ok := gostack.ReadCrash(r.err.hold.last())
	if ok || c.Why != "" && r.status.Signaled() { // killed while it wrote the trace
		return crash{Crash: c}, true
	}
	b := r.link.lastWords()
	c, ok = gostack.ReadCrash(string(b))
	if ok && c.Why == "" {
		c.Why = "fatal error (the rank's own standard error says which)"
	}
	return crash{c, b}, ok
}

// describe is the crash in one line.
func (c crash) describe(r *rank) string {
	if c.Where == "" {
		return fmt.Sprintf("%v crashed: %s", r, c.Why)
	}
	return fmt.Sprintf("%v crashed at %s: %s", r, fromHere(c.Where), c.Why)
}

// show prints the whole trace.
func (c crash) show(v *supervisor, r *rank) {
	if len(c.copy) > 0 {
		v.stderr.put(&r.err.who, c.copy)
		return
	}
	r.err.hold.release()
}

// explain prints what ranks that crashed have left, when all have gone, and says
// in the job's failure where the rank that is blamed for it crashed.
func (v *supervisor) explain() {
	order := make([]*rank, 0, len(v.ranks))
	var blamed *rank
	if v.failure != nil && v.failure.rank >= 0 {
		blamed = v.ranks[v.failure.rank]
		order = append(order, blamed)
	}
	for _, r := range v.ranks {
		if r != blamed {
			order = append(order, r)
		}
	}
	shown := false
	for _, r := range order {
		c, ok := r.crashed()
		switch {
		case !ok && r.err.hold.last() == "":
		case !ok:
			v.put(func() { r.err.hold.release() })
		case r.explained:
			shown = true
		case !shown:
			shown = true
			v.put(func() { c.show(v, r) })
			if r != blamed {
				v.say(c.describe(r))
			}
		default:
			if r.err.to == v.stderr {
				r.err.hold.drop()
			}
			v.put(func() { r.err.hold.release() })
			v.say(c.describe(r))
		}
		if r == blamed {
			v.failure.why = v.better(v.failure, r, c, ok)
		}
	}
}

// better is the reason of a failure if that is this rank's end.
func (v *supervisor) better(f *failure, r *rank, c crash, crashed bool) string {
	plain := fmt.Sprintf("%v %s", r, r.fate())
	if f.why != plain {
		return f.why
	}
	if crashed {
		return c.describe(r)
	}
	if joined, finalized := v.server.Joined(r.id); joined && !finalized && r.status.Exited() {
		return plain + " after joining the job and before finalizing"
	}
	return plain
}

// fromHere is a place as it is seen from this folder, if it is below it.
func fromHere(place string) string {
	here, err := os.Getwd()
	if err != nil {
		return place
	}
	if rel, err := filepath.Rel(here, place); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return place
}
