package harness

import (
	"context"
	"strconv"
	"time"
)

// place is what a rank does in a benchmark.
type place struct {
	peer            int // the pair's other rank; -1: it has none
	sends, receives bool
}

func (p place) idle() bool { return p.peer < 0 }

// place says what a rank does if there are so many pairs.
func (s *Spec) place(rank, pairs int) place {
	switch {
	case rank < pairs:
		return place{peer: rank + pairs, sends: true, receives: !s.OneWay}
	case rank < 2*pairs:
		return place{peer: rank - pairs, sends: !s.OneWay, receives: true}
	}
	return place{peer: -1}
}

// pair sets the number of pairs if none was asked for, and checks the one that
// was.
func (o *Options) pair(ranks int) error {
	most := ranks / 2
	if o.Pairs > most {
		return &usageError{"Invalid number of pairs [-p " + strconv.Itoa(o.Pairs) + "]"}
	}
	if o.Pairs == 0 {
		o.Pairs = most
	}
	return nil
}

// idle is what a rank without a pair does while the others measure: it takes part
// in the barrier after the warm-up. Validation has none.
func (r *run) idle(ctx context.Context) error {
	if r.options.Validate {
		return nil
	}
	return r.job.barrier(ctx)
}

// overall turns the time that each rank took into one value: the mean over all
// pairs for a latency, as much as all pairs have moved in the time of the slowest
// for a bandwidth. With one pair it is rank 0's own.
func (r *run) overall(ctx context.Context, size, iterations int, took time.Duration) (float64, error) {
	o := &r.options
	if !r.spec.Paired {
		return r.spec.value(size, o.Window, iterations, took), nil
	}
	all, err := r.job.gather(ctx, int64(took))
	if err != nil {
		return 0, err
	}
	var sum, most int64
	for _, t := range all[:o.Pairs] {
		sum += t
		most = max(most, t)
	}
	if r.spec.Metric == Latency {
		return r.spec.value(size, o.Window, iterations, time.Duration(sum)) / float64(o.Pairs), nil
	}
	return r.spec.value(size, o.Window, iterations, time.Duration(most)) * float64(o.Pairs), nil
}
