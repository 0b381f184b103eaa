package launcher

import "fmt"

// pmiEvent is what the server of a rank tells the loop.
type pmiEvent struct {
	rank    int
	done    bool  // nothing comes after this
	bad     error // the rank broke the protocol
	abort   bool
	follows bool // because another rank has ended
	code    int
	why     string
	stuck   bool // rank waits in a barrier for missing
	missing int
}

// pmiEvents passes a server's events to the loop.
type pmiEvents struct{ v *supervisor }

func (p pmiEvents) Abort(rank, code int, why string) {
	p.v.tell(pmiEvent{rank: rank, abort: true, code: code, why: why})
}

func (p pmiEvents) Follow(rank, code int, why string) {
	p.v.tell(pmiEvent{rank: rank, abort: true, follows: true, code: code, why: why})
}

func (p pmiEvents) Stuck(waiting, missing int) {
	p.v.tell(pmiEvent{rank: waiting, stuck: true, missing: missing})
}

func (v *supervisor) tell(e pmiEvent) {
	select {
	case v.pmi <- e:
	case <-v.done:
	}
}

func (e pmiEvent) String() string {
	switch {
	case e.bad != nil:
		return e.bad.Error()
	case e.abort && e.why != "":
		return fmt.Sprintf("called abort with status %d: %s", e.code, e.why)
	case e.abort:
		return fmt.Sprintf("called abort with status %d", e.code)
	}
	return ""
}
