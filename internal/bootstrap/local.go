package bootstrap

import (
	"context"
	"fmt"
	"sync"

	"github.com/verbena-mpi/verbena/internal/control"
)

// Local is a job whose ranks are goroutines of one process: it does for them what
// a launcher does for processes. A rank that ends otherwise than by Close dies
// alone, and the others hear of it.
type Local struct {
	Size   int
	Device string // that the ranks are to talk over; "": what they would choose
	Hosts  []int  // by rank: the host that it is to believe to be on; nil: all on this one

	mu       sync.Mutex
	shared   any
	rounds   []*round // exchanges, by their number
	members  []Member
	ends     []string // by rank: how it has ended, as control says it, or ""
	deaths   []Death  // in their order
	deathsCh chan struct{}
}

// Death is a rank's, and what it said, if it said something.
type Death struct {
	Rank int
	Why  string
}

// Member is what a rank's world lets its Local do. The calls come from any
// goroutine, perhaps after the world's end, and do nothing then.
type Member interface {
	Ended(rank int, how string) // another rank has ended
	Pending() []control.Op      // what it waits for
	Die()                       // ends it as the death of its process would
}

// round is one exchange.
type round struct {
	values [][]byte
	given  []bool
	left   int // ranks that have not given their value
	done   chan struct{}
}

// NewLocal makes a job.
func NewLocal(size int, device string) *Local {
	return &Local{
		Size: size, Device: device,
		members: make([]Member, size), ends: make([]string, size), deathsCh: make(chan struct{}),
	}
}

// Job is a rank's place in the job.
func (l *Local) Job(rank int) *Job { return &Job{Rank: rank, Size: l.Size, local: l} }

// Local is the job's, if its ranks are goroutines of this process, or nil.
func (j *Job) Local() *Local { return j.local }

type jobKey struct{}

// WithJob returns a context from which JobOf takes the job.
func WithJob(ctx context.Context, j *Job) context.Context {
	return context.WithValue(ctx, jobKey{}, j)
}

// JobOf is the job that a context brings, or nil.
func JobOf(ctx context.Context) *Job {
	j, _ := ctx.Value(jobKey{}).(*Job)
	return j
}

// Shared returns what the ranks have in common: what the first call makes.
func (l *Local) Shared(make func() any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared == nil {
		l.shared = make()
	}
	return l.shared
}

// Attach connects a rank's world with the job.
func (l *Local) Attach(rank int, m Member) {
	l.mu.Lock()
	l.members[rank] = m
	ends := append([]string(nil), l.ends...)
	l.mu.Unlock()
	for r, how := range ends {
		if how != "" && r != rank {
			m.Ended(r, how)
		}
	}
}

// Kill ends a rank that has not ended, as a death.
func (l *Local) Kill(rank int, why string) { l.end(rank, control.Died, why) }

// end notes a rank's end and tells the others.
func (l *Local) end(rank int, how, why string) {
	l.mu.Lock()
	if l.ends[rank] != "" {
		l.mu.Unlock()
		return
	}
	l.ends[rank] = how
	if how == control.Died {
		l.deaths = append(l.deaths, Death{rank, why})
		if len(l.deaths) == 1 {
			close(l.deathsCh)
		}
	}
	members := append([]Member(nil), l.members...)
	l.mu.Unlock()
	// Others first: those that turn to it from now on, and find nobody, know why.
	for r, m := range members {
		if m != nil && r != rank {
			m.Ended(rank, how)
		}
	}
	if m := members[rank]; m != nil && how == control.Died {
		m.Die()
	}
}

// Deaths are those so far, in their order.
func (l *Local) Deaths() []Death {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Death(nil), l.deaths...)
}

// Died is closed at the first death.
func (l *Local) Died() <-chan struct{} { return l.deathsCh }

// Pending is what a rank waits for.
func (l *Local) Pending(rank int) []control.Op {
	l.mu.Lock()
	m := l.members[rank]
	l.mu.Unlock()
	if m == nil {
		return nil
	}
	return m.Pending()
}

// exchange is Job.Exchange. Whoever waits for a rank that has died hears of it.
func (l *Local) exchange(ctx context.Context, rank, number int, value []byte) ([][]byte, error) {
	r := l.give(rank, number, value)
	select {
	case <-r.done:
		return r.values, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.deathsCh:
	}
	select {
	case <-r.done:
		return r.values, nil
	default:
		return nil, &DeadError{Rank: l.Deaths()[0].Rank}
	}
}

// DeadError ends an exchange with a rank that has died.
type DeadError struct{ Rank int }

func (e *DeadError) Error() string {
	return fmt.Sprintf("bootstrap: rank %d has ended", e.Rank)
}

// give enters a value into a round.
func (l *Local) give(rank, number int, value []byte) *round {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.rounds) <= number {
		l.rounds = append(l.rounds, &round{
			values: make([][]byte, l.Size), given: make([]bool, l.Size), left: l.Size, done: make(chan struct{}),
		})
	}
	r := l.rounds[number]
	if !r.given[rank] {
		r.values[rank], r.given[rank] = append([]byte{}, value...), true
		if r.left--; r.left == 0 {
			close(r.done)
		}
	}
	return r
}
