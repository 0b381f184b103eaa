package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/verbena-mpi/verbena/internal/control"
)

// locals runs the ranks of a job of one process.
func locals(t *testing.T, l *Local, f func(context.Context, *Job) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var g errgroup.Group
	for r := range l.Size {
		j := JobOf(WithJob(ctx, l.Job(r)))
		g.Go(func() error { return f(ctx, j) })
	}
	return g.Wait()
}

func TestLocalExchange(t *testing.T) {
	err := locals(t, NewLocal(4, ""), func(ctx context.Context, j *Job) error {
		for i := range 20 {
			mine := fmt.Appendf(nil, "%d of %d", j.Rank, i)
			all, err := j.Exchange(ctx, "card", mine)
			if err != nil {
				return err
			}
			mine[0] = 'x' // the caller's again
			for r, v := range all {
				if want := fmt.Sprintf("%d of %d", r, i); string(v) != want {
					return fmt.Errorf("rank %d gave %q, want %q", r, v, want)
				}
			}
			if err := j.Barrier(ctx); err != nil {
				return err
			}
		}
		return errors.Join(j.Close(ctx), j.Close(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// Who waits for a rank that has died hears of it; an exchange that was complete is.
func TestLocalExchangeDeath(t *testing.T) {
	l := NewLocal(3, "")
	err := locals(t, l, func(ctx context.Context, j *Job) error {
		if _, err := j.Exchange(ctx, "card", nil); err != nil {
			return err
		}
		if j.Rank == 1 {
			j.Abort(3, "mine")
			return nil
		}
		_, err := j.Exchange(ctx, "card", nil)
		if d, ok := errors.AsType[*DeadError](err); !ok || d.Rank != 1 {
			return fmt.Errorf("rank %d: %w", j.Rank, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]Death{{1, "mine"}}, l.Deaths()); d != "" {
		t.Error(d)
	}
	select {
	case <-l.Died():
	default:
		t.Error("Died is open")
	}
}

// diary is a member that writes down what it hears.
type diary struct {
	mu    sync.Mutex
	heard []string
}

func (d *diary) write(s string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard = append(d.heard, s)
}

func (d *diary) Ended(rank int, how string) { d.write(fmt.Sprint(rank, " ", how)) }
func (d *diary) Pending() []control.Op      { return []control.Op{{Call: "Recv"}} }
func (d *diary) Die()                       { d.write("die") }

// Each rank hears once of each other's end, also of one before it came.
func TestLocalEnds(t *testing.T) {
	l := NewLocal(4, "")
	var d [4]diary
	l.Attach(0, &d[0])
	l.Attach(1, &d[1])
	l.Kill(1, "mine")
	l.Kill(1, "again")
	l.Attach(2, &d[2])
	if err := l.Job(2).Close(t.Context()); err != nil {
		t.Error(err)
	}
	l.Kill(2, "too late")
	l.Kill(3, "never came")
	want := [][]string{{"1 died", "2 finished", "3 died"}, {"die", "2 finished", "3 died"}, {"1 died", "3 died"}, nil}
	for r := range d {
		if diff := cmp.Diff(want[r], d[r].heard); diff != "" {
			t.Errorf("rank %d: %s", r, diff)
		}
	}
	if d := cmp.Diff([]Death{{1, "mine"}, {3, "never came"}}, l.Deaths()); d != "" {
		t.Error(d)
	}
	if len(l.Pending(0)) != 1 || l.Pending(3) != nil {
		t.Errorf("%v, %v", l.Pending(0), l.Pending(3))
	}
}

// What ranks share is made once.
func TestLocalShared(t *testing.T) {
	l := NewLocal(2, "x")
	made := 0
	mk := func() any { made++; return made }
	if a, b := l.Shared(mk), l.Shared(mk); a != b || made != 1 {
		t.Errorf("%v, %v, made %d", a, b, made)
	}
	if JobOf(t.Context()) != nil || l.Job(1).Local() != l || alone().Local() != nil {
		t.Error("a job is not what it should be")
	}
}
