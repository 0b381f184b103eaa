package verbstest

import (
	"runtime"
	"time"
)

// pacer bounds a wait loop, and lets others run in it.
type pacer struct {
	turns     int
	virtual   bool // no time passes but by turns: nobody needs the processor
	end, last time.Time
}

// On a machine that is busy with other things a limit may pass with hardly a
// turn taken: the first patience turns have patienceFactor times as long.
const (
	patience       = 20_000
	patienceFactor = 6
)

func (r *rig) newPacer() pacer {
	now := time.Now()
	return pacer{virtual: r.net.Step != nil, end: now.Add(r.limit), last: now.Add(patienceFactor * r.limit)}
}

// next says whether the wait may go on. Goroutines of a device run in the
// meantime; after many turns the processor is given to them for longer, since
// the runtime looks at its poller only when somebody is idle.
func (p *pacer) next() bool {
	p.turns++
	runtime.Gosched()
	if p.turns%64 != 0 {
		return true
	}
	if p.turns > 4096 && !p.virtual {
		time.Sleep(50 * time.Microsecond)
	}
	if p.turns < patience {
		return time.Now().Before(p.last)
	}
	return time.Now().Before(p.end)
}

// turn polls every side once and moves virtual time by one step.
func (r *rig) turn() {
	r.t.Helper()
	for _, s := range r.sides {
		r.check(s.poll())
	}
	r.step()
}

func (r *rig) step() {
	if r.net.Step != nil {
		r.net.Step()
	}
}

// until takes turns until cond holds.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	for p := r.newPacer(); !cond(); {
		r.turn()
		if !p.next() {
			r.t.Fatalf("still waiting after %v for %s\n%s", r.limit, what, r.state())
		}
	}
}

// settleTime is how long a device with real time is watched for something
// that must not happen; settleTurns is the least number of turns.
const (
	settleTime  = 10 * time.Millisecond
	settleTurns = 50
)

// settle takes turns for a while: what is going to happen by itself has
// happened then.
func (r *rig) settle() {
	r.t.Helper()
	r.settleWith(r.turn)
}

func (r *rig) settleWith(turn func()) {
	r.t.Helper()
	end := time.Now().Add(settleTime)
	for n := 0; n < settleTurns || r.net.Step == nil && time.Now().Before(end); n++ {
		turn()
		runtime.Gosched()
	}
}
