package meet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// Ranks meet, exchange something by PMI, and part.
func TestMeet(t *testing.T) {
	for _, size := range []int{1, 2, 5, 24} {
		ms := newRig(t).all(size)
		err := each(ms, func(m *member) error {
			ctx := t.Context()
			name, err := m.KVSName(ctx)
			if err != nil {
				return err
			}
			for round := range 3 {
				if err := m.Put(ctx, name, fmt.Sprintf("k%d.%d", round, m.rank), fmt.Sprint(m.rank*7)); err != nil {
					return err
				}
				if err := m.Barrier(ctx); err != nil {
					return err
				}
				for r := range size {
					if v, err := m.Get(ctx, name, fmt.Sprintf("k%d.%d", round, r)); err != nil || v != fmt.Sprint(r*7) {
						return fmt.Errorf("of rank %d: %q, %w", r, v, err)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", size, err)
		}
		leaveAll(t, ms)
	}
}

// Ranks come before rank 0 does, and the meeting waits for the last one.
func TestPatience(t *testing.T) {
	r := newRig(t)
	_ = r.way.l.Close() // nobody listens yet
	r.way.l = nil
	ms, start, wait := r.gathering(3)
	start(1)
	<-r.way.failed
	start(0)
	start(2)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	leaveAll(t, ms)
}

// The time is over: all that are there hear who isn't.
func TestMissing(t *testing.T) {
	t.Parallel()
	const size = 9
	for name, short := range map[string]int{"rank 0 waits least": 0, "another does": 4} {
		r := newRig(t)
		errs := make([]error, size)
		var g errgroup.Group
		for _, rank := range []int{0, 1, 2, 4, 8} {
			g.Go(func() error {
				c := r.config(rank, size)
				if rank == short {
					c.Timeout = 3 * time.Second
				}
				_, errs[rank] = Join(t.Context(), c)
				return nil
			})
		}
		_ = g.Wait()
		for _, rank := range []int{0, 1, 2, 4, 8} {
			says(t, fmt.Sprintf("%s: rank %d", name, rank), errs[rank], fmt.Sprintf("rank %d: VERBENA_MEET=127.0.0.1:", rank),
				"ranks 3, 5-7 have not come in time (5 of 9 ranks are there)")
		}
	}
}

// Nobody keeps the meeting.
func TestNoMeeting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_ = r.way.l.Close()
	r.way.l = nil
	c := r.config(1, 2)
	c.Timeout = time.Second
	_, err := Join(t.Context(), c)
	says(t, "a closed port", err, "rank 0 was not met within 1s (", "tries)", "connection refused")
	r.way.host = "no-such-host.invalid"
	_, err = Join(t.Context(), c)
	says(t, "a name that doesn't resolve", err, "rank 0 was not met within 1s", "no-such-host.invalid")
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	why := errors.New("the user is bored")
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make([]error, 3)
	var g errgroup.Group
	for _, rank := range []int{0, 1} {
		g.Go(func() error {
			_, errs[rank] = Join(ctx, r.config(rank, 3))
			return nil
		})
	}
	time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
	_ = g.Wait()
	says(t, "rank 0", errs[0], "the user is bored")
	says(t, "rank 1", errs[1], "the user is bored")
}

// refused joins a rank that must be refused at once.
func (r *rig) refused(what string, c Config, want ...string) {
	r.t.Helper()
	start := time.Now()
	m, err := join(r.t.Context(), c)
	if err == nil {
		m.die()
	}
	says(r.t, what, err, want...)
	if took := time.Since(start); took > c.Timeout/2 {
		r.t.Errorf("%s: it took %v", what, took)
	}
}

// Who has no place in the job is told so; the others go on to meet.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ms, start, wait := r.gathering(3)
	start(0)
	r.refused("another size", r.config(2, 4), "rank 2 was told that the job has 4 ranks, rank 0 that it has 3")
	r.refused("another size, and beyond", r.config(3, 4), "rank 3 was told that the job has 4 ranks")
	wrong := r.config(2, 3)
	wrong.Job = "other"
	r.refused("another job", wrong, `it belongs to job "other", rank 0 to job ""`)
	if _, err := Join(t.Context(), r.config(3, 3)); err == nil {
		t.Error("rank 3 of 3 joined")
	}
	one, _ := r.guest(1, 3)
	r.refused("the same rank twice", r.config(1, 3), "rank 1 is here already, from 127.0.0.1:", "two processes are the same rank")
	// When it has gone another may come, even a moment before that is noticed.
	time.AfterFunc(50*time.Millisecond, func() { _ = one.Close() })
	start(1)
	zero := r.config(0, 3)
	zero.Way = r.way.tcp
	r.refused("a second rank 0", zero, "address already in use", "another rank 0")
	start(2)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	r.refused("started again", r.config(1, 3), "rank 1 has been in this job already, from 127.0.0.1:", "start all ranks again")
	r.refused("another size, later", r.config(1, 2), "rank 1 was told that the job has 2 ranks")
	leaveAll(t, ms)
}

// A control connection needs the token of the first one.
func TestToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	done := make(chan error, 1)
	go func() {
		c := r.config(0, 2)
		_, err := Join(t.Context(), c)
		done <- err
	}()
	first, token := r.guest(1, 2)
	for _, wrong := range []string{"", "x", token[1:], token + "x"} {
		_, err := openControl(t.Context(), r.config(1, 2), wrong)
		says(t, "token "+wrong, err, "a control connection of no rank that is here")
	}
	_, err := openControl(t.Context(), Config{Rank: 0, Way: r.way}, token)
	says(t, "of rank 0", err, "no rank that is here")
	_ = first.Close()
	// Missing, rank 1 is mentioned as one that was there.
	m, err := open(t.Context(), r.way)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	_ = say(m, patient, pmi.Msg("dance"))
	answer, err := hear(bufio.NewReader(m))
	if err != nil {
		t.Fatal(err)
	}
	says(t, "nonsense", readResult(answer), `expected meet, got "dance"`)
	short := hello{rank: 1, size: 2, within: 300 * time.Millisecond}
	last, err := open(t.Context(), r.way)
	if err != nil {
		t.Fatal(err)
	}
	_ = say(last, patient, short.message())
	if _, err := hear(bufio.NewReader(last)); err != nil {
		t.Fatal(err)
	}
	_ = last.Close()
	says(t, "rank 0", <-done, "rank 1 has not come", "(1 of 2 ranks are there)", "rank 1 was there, from 127.0.0.1:", "and has left")
}

// Who waits for a rank that has ended hears of it, by PMI and by the control
// connection.
func TestDeath(t *testing.T) {
	ms := newRig(t).all(4)
	errs := make([]error, 4)
	var g errgroup.Group
	for _, r := range []int{0, 1, 3} {
		g.Go(func() error {
			errs[r] = ms[r].Barrier(t.Context())
			return nil
		})
	}
	ms[2].die()
	_ = g.Wait()
	for _, r := range []int{0, 1, 3} {
		says(t, fmt.Sprintf("rank %d in the barrier", r), errs[r], "rank 2 (127.0.0.1:", "has ended")
		ms[r].hear(t, control.Message{Kind: control.Exit, Rank: 2, How: control.Died})
		says(t, fmt.Sprintf("rank %d in the next barrier", r), ms[r].Barrier(t.Context()), "rank 2 (127.0.0.1:")
	}
	leaveAll(t, []*member{ms[0], ms[1], ms[3]})
}

func TestDeathOfRank0(t *testing.T) {
	ms := newRig(t).all(3)
	errs := make([]error, 3)
	var g errgroup.Group
	for _, r := range []int{1, 2} {
		g.Go(func() error {
			errs[r] = ms[r].Barrier(t.Context())
			return nil
		})
	}
	ms[0].die()
	_ = g.Wait()
	for _, r := range []int{1, 2} {
		if !errors.Is(errs[r], pmi.ErrGone) {
			t.Errorf("rank %d: %v", r, errs[r])
		}
		ms[r].hear(t, control.Message{Kind: control.Exit, Rank: 0, How: control.Died})
		ms[r].die()
	}
}

// Ranks that finish are no deaths, and those that wait for one hear that, too.
func TestFinished(t *testing.T) {
	ms := newRig(t).all(3)
	if err := ms[1].leave(t.Context()); err != nil {
		t.Error(err)
	}
	for _, r := range []int{0, 2} {
		ms[r].hear(t, control.Message{Kind: control.Exit, Rank: 1, How: control.Finished})
	}
	says(t, "a barrier", ms[2].Barrier(t.Context()), "rank 1 (127.0.0.1:", "has left the job")
	done := make(chan error, 1)
	go func() { done <- ms[0].leave(t.Context()) }()
	ms[2].hear(t, control.Message{Kind: control.Exit, Rank: 0, How: control.Finished})
	select {
	case err := <-done:
		t.Error("rank 0 left before rank 2:", err)
	default:
	}
	if err := errors.Join(ms[2].leave(t.Context()), <-done); err != nil {
		t.Error(err)
	}
}

// Rank 0 doesn't wait for ever for those that don't finalize.
func TestNotFinalized(t *testing.T) {
	t.Parallel()
	ms := newRig(t).all(4)
	if err := ms[2].leave(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	says(t, "rank 0", ms[0].leave(ctx), "ranks 1, 3 have not finalized")
	ms[1].die()
	ms[3].die()
}

// A rank of the next job, which uses the same address, comes while the last one ends.
func TestNextJob(t *testing.T) {
	r := newRig(t)
	last := r.all(2)
	if err := last[1].leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := try(t.Context(), r.config(1, 2))
	var refused *RefusedError
	if !errors.As(err, &refused) || !refused.again {
		t.Errorf("%v, expected that it may try again", err)
	}
	next := make([]*member, 2)
	var g errgroup.Group
	g.Go(func() (err error) {
		next[1], err = join(t.Context(), r.config(1, 2))
		return err
	})
	if err := last[0].leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.Go(func() (err error) {
		next[0], err = join(t.Context(), r.config(0, 2))
		return err
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	leaveAll(t, next)
}

// An abort is heard by all other ranks, also those that listen later, and by those
// in a barrier.
func TestAbort(t *testing.T) {
	for _, who := range []int{0, 2} {
		ms := newRig(t).all(4)
		barrier := make(chan error, 1)
		go func() { barrier <- ms[1].Barrier(t.Context()) }()
		// The first one counts.
		var zero sync.WaitGroup
		if who == 0 {
			zero.Go(func() {
				ms[0].Place.Abort(7, "because")
				ms[0].Place.Abort(8, "again")
			})
		} else if err := errors.Join(ms[who].Client.Abort(7, "because"), ms[who].Client.Abort(8, "again")); err != nil {
			t.Error(err)
		}
		says(t, "the barrier", <-barrier, fmt.Sprintf("rank %d aborted the job with status 7: because", who))
		for _, m := range ms[1:] {
			if m.rank != who {
				m.hear(t, control.Message{Kind: control.Abort, Rank: who, Status: 7, Why: "because"})
			}
		}
		for _, m := range []*member{ms[1], ms[2], ms[3]} {
			m.die()
		}
		if who != 0 {
			ms[0].hear(t, control.Message{Kind: control.Abort, Rank: who, Status: 7, Why: "because"})
		}
		zero.Wait() // since the others have ended
		ms[0].die()
	}
}
