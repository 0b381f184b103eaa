package launcher

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
)

const (
	// tellLimit is how long a rank that listens may leave no room for what it is told.
	tellLimit = time.Second
	// newsDelay gathers the exits of ranks that finish together.
	newsDelay = 10 * time.Millisecond
	// crashLimit bounds the wait for the trace of a rank that has crashed, if
	// somebody else holds its standard error.
	crashLimit = 500 * time.Millisecond
)

// linkEvent is what a rank says on its control connection, or that it ends.
type linkEvent struct {
	rank int
	msg  control.Message
	err  error
}

// listenTo starts the goroutine that reads a rank's control connection.
func (v *supervisor) listenTo(r *rank) {
	if r.link.conn == nil {
		return
	}
	go func() {
		for {
			m, err := r.link.conn.Receive()
			select {
			case v.links <- linkEvent{r.id, m, err}:
			case <-v.done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
}

// hear is what a rank said.
func (v *supervisor) hear(e linkEvent) {
	l := v.ranks[e.rank].link
	switch {
	case e.err != nil:
		if !errors.Is(e.err, io.EOF) {
			v.log.Debugf("rank %d: %v", e.rank, e.err)
		}
		l.deaf, l.blocked = true, nil
		go func() { _ = l.conn.Close() }()
		if v.round != nil && v.round.open[e.rank] {
			delete(v.round.open, e.rank)
			v.finishRound(false)
		}
	case e.msg.Kind == control.Hello:
		l.listens = true
		v.tellExits()
	case e.msg.Kind == control.Pending, e.msg.Kind == control.Report:
		v.answered(e.rank, e.msg)
	}
}

// say tells a rank something, if it listens.
func (l *link) say(m ...control.Message) {
	if l.listens && !l.deaf && len(m) > 0 {
		l.deaf = l.conn.Send(tellLimit, m...) != nil
	}
}

// noteExit is the end of a rank, judged: the others will be told.
func (v *supervisor) noteExit(r *rank) {
	joined, finalized := v.server.Joined(r.id)
	m := control.Message{Kind: control.Exit, Rank: r.id, How: control.Died}
	if status, _ := verdict(r.status, joined, finalized); status == 0 {
		m.How = control.Finished
	}
	if v.exits = append(v.exits, m); !v.newsDue {
		v.newsDue = true
		v.news.Reset(newsDelay)
	}
}

// tellExits tells ranks what they have not been told, but those that have ended,
// or are about to.
func (v *supervisor) tellExits() {
	v.newsDue = false
	if v.phase != running {
		return
	}
	for _, r := range v.ranks {
		if _, finalized := v.server.Joined(r.id); r.reaped || finalized || !r.link.listens {
			continue
		}
		r.link.say(v.exits[r.link.told:]...)
		r.link.told = len(v.exits)
	}
}

// lost is what the failure of a rank means: the end of the job, or, in one that
// goes on, that of this rank alone.
func (v *supervisor) lost(r *rank, f *failure) {
	if !v.spec.Continuous || v.phase != running {
		v.end(f, ending)
		return
	}
	if v.died == nil {
		v.died = f
	}
	r.explained, f.said = true, true
	v.reports.Go(func() { v.report(r, f) })
}

// report prints how a rank has died, while the job goes on.
func (v *supervisor) report(r *rank, f *failure) {
	select {
	case <-r.err.hold.ended:
	case <-time.After(crashLimit):
	}
	c, ok := r.crashed()
	if ok {
		c.show(v, r)
	}
	fmt.Fprintf(v.stderr, "verbrun: %s; the other ranks go on\n", v.better(f, r, c, ok))
}
