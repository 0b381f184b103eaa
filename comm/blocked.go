package comm

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/gostack"
	"github.com/verbena-mpi/verbena/progress"
)

// maxStacks bounds the text of all goroutines' stacks. What is beyond it has no
// source lines, and a rank of which not all is known doesn't count as blocked.
const maxStacks = 16 << 20

// answer is what this rank says when it is asked where it is blocked: its pending
// operations, and its state. Nothing was recorded for it but when a wait had become
// long: source lines come from the goroutines' stacks.
func (w *World) answer(id uint64) []control.Message {
	w.eng.Lock()
	defer w.eng.Unlock()
	text, whole := stacks()
	at := findWaits(gostack.Parse(text))
	ops, moving := w.pending(at)
	s := at.main
	s.Blocked = whole && at.stuck && !moving && !w.closed && w.eng.Asleep()
	s.Sent, s.Received = w.traffic()
	if len(ops) > control.MaxOps {
		s.LeftOut = len(ops) - control.MaxOps
		ops = ops[:control.MaxOps]
	}
	all := make([]control.Message, 0, len(ops)+1)
	for _, o := range ops {
		all = append(all, control.Message{Kind: control.Pending, ID: id, Op: o})
	}
	return append(all, control.Message{Kind: control.Report, ID: id, State: s})
}

// quiet tells the launcher that this rank is blocked, if it is.
func (w *World) quiet() {
	all := w.answer(0)
	if last := all[len(all)-1]; last.State.Blocked {
		_ = w.launcher.Send(sayLimit, last)
	}
}

// traffic is how many messages were sent to and received from ranks that live. The
// numbers are those of the protocol, which wrap alike on both sides.
func (w *World) traffic() (sent, received uint64) {
	for _, p := range w.peers {
		if p.ep != nil && p.lost == nil {
			sent += uint64(p.ep.Sent())
			received += uint64(p.seq)
		}
	}
	return sent, received
}

// pending lists the operations that are not complete. Moving: one of them has
// matched and is being transferred, or its wait ends by itself.
func (w *World) pending(at waits) (ops []control.Op, moving bool) {
	idle := map[*request]bool{}
	for r := w.pool; r != nil; r = r.next {
		idle[r] = true
	}
	groups := map[*progress.Waiter]string{}
	for _, r := range w.requests {
		if !idle[r] && r.peer == noPeer {
			groups[&r.waiter] = r.op
		}
	}
	waits := map[*request]bool{}
	for r := range w.table.Posted(nil) {
		waits[r] = true
	}
	for _, r := range w.probes {
		waits[r] = true
	}
	now := time.Now()
	for _, r := range w.requests {
		if idle[r] || r.done || r.peer == noPeer {
			continue
		}
		o := control.Op{Call: r.op, Peer: public(r.comm.worldRank(r.peer)), Tag: public(r.tag), Bytes: r.bytes()}
		if r.on != nil {
			o.Place, o.Within = at.places[address(r.on)], groups[r.on]
			if o.Place == "" {
				o.Place = "?"
			}
			if since, ends, long := r.on.Long(); long {
				o.For = max(now.Sub(since), 0)
				moving = moving || ends
			}
		}
		moving = moving || r.to == nil && !waits[r]
		if r.inner {
			continue
		}
		ops = append(ops, o)
	}
	return ops, moving
}

// public is a peer or a tag as the launcher is told.
func public(n int) int {
	if n < 0 {
		return control.Any
	}
	return n
}

// stacks returns the stacks of all goroutines, and whether that is all of them.
func stacks() (string, bool) {
	for size := 64 << 10; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= maxStacks {
			return string(buf[:n]), n < size
		}
	}
}

// waits is what the stacks say.
type waits struct {
	places map[string]string // where the program waits, by the address of the waiter
	main   control.State     // of the main goroutine
	stuck  bool              // no goroutine of the program can go on by itself
}

const (
	module = "github.com/verbena-mpi/verbena/"
	waitOf = module + "progress.(*Engine).Wait"
)

func findWaits(all []gostack.Goroutine) waits {
	w := waits{places: map[string]string{}, stuck: true}
	for _, g := range all {
		waiting, place := "", ""
		for _, f := range g.Frames {
			if f.Func == waitOf {
				waiting = lastArg(f.Args)
			}
			if place == "" && !ours(f) && !standard(f) {
				place = f.Place()
			}
		}
		if waiting != "" {
			w.places[waiting] = place
		}
		if g.ID == 1 {
			w.main.Doing, w.main.Place = g.State, place
		}
		if waiting == "" && !needsOthers[g.State] && (place != "" || !helper(g)) {
			w.stuck = false
		}
	}
	return w
}

// helper says whether a goroutine without a frame of the program's is this
// library's, the runtime's, or the one that passes signals on. Others of the
// standard library may call the program, as an HTTP server's do.
func helper(g gostack.Goroutine) bool {
	only := true
	for _, f := range g.Frames {
		if ours(f) || f.InPackage("os/signal") {
			return true
		}
		only = only && f.InPackage("runtime")
	}
	return only
}

// needsOthers are the states of a goroutine that only another one of this process
// can end. Not among them: a receive from a channel, and select, which a timer or a
// signal may end.
var needsOthers = map[string]bool{
	"sync.WaitGroup.Wait": true, "sync.Mutex.Lock": true, "sync.RWMutex.Lock": true, "sync.RWMutex.RLock": true,
	"sync.Cond.Wait": true, "semacquire": true, "chan send": true, "select (no cases)": true,
	"chan receive (nil chan)": true, "chan send (nil chan)": true,
}

// ours says whether a frame is this library's, and not a program's. Its tests are
// programs.
func ours(f gostack.Frame) bool {
	if strings.Contains(f.Func, "_test.") {
		return false
	}
	for _, p := range []string{"comm", "progress", "eager", "rendezvous", "srq", "verbs", "internal"} {
		if f.InPackage(module + p) {
			return true
		}
	}
	return false
}

// standard says whether a frame is of the packages that goroutines of this library
// and of the runtime are in, and so no place of the program's.
func standard(f gostack.Frame) bool {
	for _, p := range []string{"runtime", "internal", "sync", "os", "net", "syscall", "time", "context", "io", "bufio", "golang.org/x/sys"} {
		if f.InPackage(p) {
			return true
		}
	}
	return false
}

// lastArg is the last word of a call's arguments. A question mark says that the
// runtime isn't sure of it.
func lastArg(args string) string {
	if i := strings.LastIndex(args, ", "); i >= 0 {
		args = args[i+2:]
	}
	return strings.TrimSuffix(args, "?")
}

// address is a pointer as the runtime prints it in a stack.
func address(w *progress.Waiter) string { return fmt.Sprintf("%p", w) }
