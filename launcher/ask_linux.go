package launcher

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/control"
)

// DumpSignal is the signal by which verbrun is asked where the ranks are blocked:
// SIGRTMIN+1 of the C library. It isn't passed on. Every other signal that a
// program may handle keeps its meaning for the ranks.
const DumpSignal = unix.Signal(35)

// askLimit is how long ranks have to answer.
const askLimit = time.Second

// round is one question to all ranks that listen, and their answers.
type round struct {
	id      uint64
	open    map[int]bool // ranks that have not answered
	answers map[int]*answer

	print bool   // on request: whatever comes of it
	then  func() // or nil
	first traffic
	again bool // to see whether the ranks are blocked still, since first
}

// answer is one rank's.
type answer struct {
	ops   []control.Op
	state control.State
}

// ask starts a round, or adds to the one that is under way what it is for.
func (v *supervisor) ask(more func(*round)) {
	if v.round == nil {
		v.roundNo++
		v.round = &round{id: v.roundNo, open: map[int]bool{}, answers: map[int]*answer{}}
		for _, r := range v.ranks {
			if r.reaped || !r.link.listens || r.link.deaf {
				continue
			}
			v.round.open[r.id], v.round.answers[r.id] = true, &answer{}
			r.link.say(control.Message{Kind: control.Ask, ID: v.round.id})
		}
		v.roundEnd.Reset(askLimit)
	}
	more(v.round)
	v.finishRound(false)
}

// dump is what DumpSignal asks for.
func (v *supervisor) dump() { v.ask(func(r *round) { r.print = true }) }

// answered is a line of a rank's answer. What belongs to no question is a rank's
// word that it is blocked.
func (v *supervisor) answered(id int, m control.Message) {
	l := v.ranks[id].link
	if m.Kind == control.Report {
		v.log.Debugf("rank %d: %+v", id, m.State)
	}
	if m.Kind == control.Report && m.ID == 0 {
		l.blocked = &m.State
		v.suspect()
		return
	}
	if v.round == nil || m.ID != v.round.id || !v.round.open[id] {
		return // too late
	}
	a := v.round.answers[id]
	if m.Kind == control.Pending {
		if len(a.ops) < control.MaxOps {
			a.ops = append(a.ops, m.Op)
		}
		return
	}
	a.state = m.State
	l.blocked = nil
	if m.State.Blocked {
		l.blocked = &m.State
	}
	delete(v.round.open, id)
	v.finishRound(false)
}

// finishRound ends the round if all have answered, or if their time is over.
func (v *supervisor) finishRound(late bool) {
	r := v.round
	if r == nil || len(r.open) > 0 && !late {
		return
	}
	v.round = nil
	v.roundEnd.Stop()
	if r.print {
		v.printLater(v.dumpText(r))
	}
	if r.again && len(r.open) == 0 {
		v.confirm(r)
	}
	if r.then != nil {
		r.then()
	}
}

// dumpText is what the ranks have said, in lines.
func (v *supervisor) dumpText(d *round) string {
	var b strings.Builder
	for _, r := range v.ranks {
		a, asked := d.answers[r.id]
		switch {
		case r.reaped:
			fmt.Fprintf(&b, "verbrun: rank %d: %s\n", r.id, r.fate())
		case !asked:
			fmt.Fprintf(&b, "verbrun: rank %d: not in comm's world, or no Verbena program\n", r.id)
		case d.open[r.id]:
			fmt.Fprintf(&b, "verbrun: rank %d: no answer within %v\n", r.id, askLimit)
		default:
			a.write(&b, r.id)
		}
	}
	return b.String()
}

func (a *answer) write(b *strings.Builder, rank int) {
	for _, o := range a.ops {
		fmt.Fprintf(b, "verbrun: rank %d: %s\n", rank, opText(o))
	}
	if a.state.LeftOut > 0 {
		fmt.Fprintf(b, "verbrun: rank %d: and %d more\n", rank, a.state.LeftOut)
	}
	if len(a.ops) == 0 {
		fmt.Fprintf(b, "verbrun: rank %d: nothing is pending; main is at %s (%s)\n", rank, orUnknown(fromHere(a.state.Place)), orUnknown(a.state.Doing))
	}
}

// opText is an operation in words.
func opText(o control.Op) string { return o.Text(fromHere(o.Place)) }

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

// printLater prints while the loop goes on: the reader may be slow.
func (v *supervisor) printLater(text string) {
	if text != "" {
		v.reports.Go(func() { fmt.Fprint(v.stderr, text) })
	}
}

// timeUp is the end of the time limit. What the ranks say of where they are comes
// before it.
func (v *supervisor) timeUp(f *failure) {
	v.ask(func(r *round) {
		r.print = len(r.answers) > 0
		r.then = func() { v.end(f, ending) }
	})
}
