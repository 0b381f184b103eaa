package verbstest

import (
	"runtime"
	"time"
)

// pacer bounds a wait loop, and lets others run in it. The limit is of time
// without a completion, since a machine may be slow or busy.
type pacer struct {
	turns   int
	virtual bool       // no time passes but by turns: nobody needs the processor
	filed   func() int // completions of the sides that are watched
	seen    int
	idle    int // turns since a completion
	limit   time.Duration
	end     time.Time
}

// patience is how many turns in which nothing comes a wait has at least,
// within patienceFactor times its limit.
const (
	patience       = 20_000
	patienceFactor = 6
)

func (r *rig) newPacer(watched ...*side) pacer {
	filed := func() (n int) {
		for _, s := range watched {
			n += s.filed
		}
		return n
	}
	return pacer{virtual: r.net.Step != nil, filed: filed, limit: r.limit, end: time.Now().Add(r.limit)}
}

// next says whether the wait may go on. Goroutines of a device run in the
// meantime; after many turns the processor is given to them for longer, since
// the runtime looks at its poller only when somebody is idle.
func (p *pacer) next() bool {
	p.turns++
	p.idle++
	runtime.Gosched()
	if p.turns%64 != 0 {
		return true
	}
	now := time.Now()
	if n := p.filed(); n != p.seen {
		p.seen, p.idle, p.end = n, 0, now.Add(p.limit)
	}
	if p.idle > 4096 && !p.virtual {
		time.Sleep(50 * time.Microsecond)
	}
	if p.idle < patience {
		return now.Before(p.end.Add((patienceFactor - 1) * p.limit))
	}
	return now.Before(p.end)
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
	for p := r.newPacer(r.sides...); !cond(); {
		r.turn()
		if !p.next() {
			r.t.Fatalf("nothing for %v while waiting for %s\n%s", r.limit, what, r.state())
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
