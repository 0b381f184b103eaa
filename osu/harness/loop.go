package harness

import (
	"context"
	"time"
)

// timed is what the timed loop of one message size gave on this rank.
type timed struct {
	took    time.Duration   // all timed iterations together
	samples []time.Duration // each of them, where percentiles are asked for
	bad     int64           // iterations that did not validate
	first   error           // what was wrong with the first of them
}

// steps does n iterations.
func (r *run) steps(ctx context.Context, n int) error {
	for range n {
		if err := r.body.Step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// warmUp does the iterations that are not timed. Pairs begin with the timed ones
// together.
func (r *run) warmUp(ctx context.Context, n int) error {
	if err := r.steps(ctx, n); err != nil || !r.spec.Paired {
		return err
	}
	return r.job.barrier(ctx)
}

// plain reads the clock twice in all.
func (r *run) plain(ctx context.Context, skip, n int) (t timed, err error) {
	if err = r.warmUp(ctx, skip); err != nil {
		return t, err
	}
	began := now()
	err = r.steps(ctx, n)
	t.took = now() - began
	return t, err
}

// sampled reads the clock before each iteration, and once at the end.
func (r *run) sampled(ctx context.Context, skip, n int) (t timed, err error) {
	if err = r.warmUp(ctx, skip); err != nil {
		return t, err
	}
	stamps := r.stamps[:n+1]
	for i := range n {
		stamps[i] = now()
		if err = r.body.Step(ctx); err != nil {
			return t, err
		}
	}
	stamps[n] = now()
	t.took = stamps[n] - stamps[0]
	for i := range n {
		stamps[i] = stamps[i+1] - stamps[i]
	}
	t.samples = stamps[:n]
	return t, nil
}

// validated does each timed iteration with a new pattern, after some with the
// same pattern that are not timed: they bring the ranks together again after
// the time that filling and checking took. They receive into buffers of their
// own, so that what is checked can only have come with the timed one.
func (r *run) validated(ctx context.Context, size, skip, n int) (t timed, err error) {
	t.samples = r.stamps[:0]
	for i := range skip + n {
		r.prepare(size, i)
		if again := r.options.ValidateWarmUp; again > 0 {
			r.body.Use(r.send.list(), r.spare.list())
			if err = r.steps(ctx, again); err != nil {
				return t, err
			}
		}
		r.body.Use(r.send.list(), r.recv.list())
		began := now()
		if err = r.body.Step(ctx); err != nil {
			return t, err
		}
		took := now() - began
		if bad := r.check(size, i); bad != nil {
			t.bad++
			if t.first == nil {
				t.first = bad
			}
		}
		if i >= skip {
			t.took += took
			t.samples = append(t.samples, took)
		}
	}
	return t, nil
}
