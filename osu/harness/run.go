package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// run is one run of a benchmark, on one rank.
type run struct {
	spec    *Spec
	job     job
	options Options
	stdout  io.Writer
	stderr  io.Writer

	once     func(context.Context) (string, error) // instead of a body
	makeBody func(peer int) Body
	body     Body
	all      *Collective // instead of a body
	place    place

	send, recv *window // nil on the side that does not send or receive
	spare      *window // receives what validation does not look at
	stamps     []time.Duration
}

// Run runs a benchmark on the two ranks of c, with the program's own command
// line as its options.
// Rank 0 prints. An error that is an ExitStatus has been printed already.
func Run(ctx context.Context, c *comm.Comm, spec Spec, body Body) error {
	return RunPairs(ctx, c, spec, func(int) Body { return body })
}

// RunPairs is Run for benchmarks whose body needs to know the other rank of its
// pair. A rank without one makes no body.
func RunPairs(ctx context.Context, c *comm.Comm, spec Spec, body func(peer int) Body) error {
	r := &run{spec: &spec, job: commJob{c}, makeBody: body, stdout: os.Stdout, stderr: os.Stderr}
	return r.start(ctx, os.Args[1:])
}

// start reads the command line, and sweeps if there is something to measure.
func (r *run) start(ctx context.Context, args []string) error {
	first := r.job.rank() == 0
	say := func(w io.Writer, text string) {
		if first {
			io.WriteString(w, text) // nothing can be done about a closed output here
		}
	}

	options, err := r.spec.Parse(args)
	if err == nil {
		err = options.pair(r.job.size())
	}
	var bad *usageError
	switch {
	case errors.As(err, &bad):
		say(r.stdout, r.spec.usage())
		say(r.stderr, bad.text+"\n")
		return r.fail(ctx)
	case err != nil:
		return err
	case options.Help:
		say(r.stdout, r.spec.usage())
		return nil
	case options.Version:
		say(r.stdout, r.spec.title()+"\n")
		return nil
	case r.once != nil:
		line, err := r.once(ctx)
		if err != nil {
			return err
		}
		say(r.stdout, r.spec.title()+"\n"+line+"\n")
		return nil
	case (r.spec.Paired || r.all != nil) && r.job.size() < 2:
		say(r.stderr, "This test requires at least two processes\n")
		return r.fail(ctx)
	case !r.spec.Paired && r.all == nil && r.job.size() != 2:
		say(r.stderr, "This test requires exactly two processes\n")
		return r.fail(ctx)
	}
	r.options = options
	if r.all != nil {
		return r.sweep(ctx, first)
	}
	r.place = r.spec.place(r.job.rank(), options.Pairs)
	if !r.place.idle() {
		r.body = r.makeBody(r.place.peer)
	}
	return r.sweep(ctx, first)
}

// fail ends this rank after a failure that all ranks have seen. The first rank
// to end with a status ends the job, so all wait until rank 0 has printed; if
// that can't be waited for, there is nothing better than to end as well.
func (r *run) fail(ctx context.Context) error {
	_ = r.job.barrier(ctx)
	return ExitStatus(1)
}

// sweep measures all sizes and prints the table.
func (r *run) sweep(ctx context.Context, first bool) error {
	o := &r.options
	r.stamps = make([]time.Duration, max(o.Iterations.Small, o.Iterations.Large)+1)
	t := &table{out: r.stdout, spec: r.spec, options: o}
	comments, err := r.comments(ctx)
	if err != nil {
		return err
	}
	if first {
		if err := t.header(r.spec.title(), comments...); err != nil {
			return err
		}
	}

	if o.Vary {
		return r.vary(ctx, t, first)
	}
	// After an error a peer may still be using the buffers: they are given up
	// only when all went well.
	if !o.Multiple {
		r.allocate(o.Max)
	}
	for size := range r.sizes() {
		if o.Multiple {
			r.allocate(size)
		}
		got, err := r.measure(ctx, size)
		if err != nil {
			return err
		}
		if first {
			if err := t.print(got); err != nil {
				return err
			}
		}
		if o.Validate && !got.valid {
			return r.invalid(ctx, first, size)
		}
		if o.Multiple {
			r.release()
		}
	}
	r.release()
	return nil
}

// sizes are those of the rows: one that counts for nothing where messages have none.
func (r *run) sizes() iter.Seq[int] {
	if r.spec.Sizeless {
		return slices.Values([]int{0})
	}
	return r.options.Sizes()
}

// invalid ends the benchmark after a validation that has failed.
func (r *run) invalid(ctx context.Context, first bool, size int) error {
	if first {
		fmt.Fprintf(r.stdout, "DATA VALIDATION ERROR: %s exited with status 1 on message size %d.\n", r.spec.Name, size)
	}
	return r.fail(ctx)
}

// comments returns the table's further lines, which options ask for.
func (r *run) comments(ctx context.Context) ([]string, error) {
	var lines []string
	if r.options.CPUs {
		line, err := r.cpus(ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	if r.options.Clock {
		lines = append(lines, clockComment())
	}
	return lines, nil
}

// measure measures one size. On ranks other than 0 only the verdict counts.
func (r *run) measure(ctx context.Context, size int) (*row, error) {
	o := &r.options
	for _, w := range []*window{r.send, r.recv, r.spare} {
		w.resize(size)
	}
	if err := r.job.barrier(ctx); err != nil {
		return nil, err
	}
	if r.all != nil {
		return r.measureAll(ctx, size)
	}

	var t timed
	var err error
	skip, n := o.WarmUp.For(size), o.Iterations.For(size)
	if r.body != nil {
		r.body.Use(r.send.list(), r.recv.list())
	}
	switch {
	case r.body == nil:
		err = r.idle(ctx)
	case o.Validate:
		t, err = r.validated(ctx, size, skip, n)
	case len(o.Percentiles) > 0 && r.job.rank() == 0:
		t, err = r.sampled(ctx, skip, n)
	default:
		t, err = r.plain(ctx, skip, n)
	}
	if err != nil {
		return nil, err
	}

	got := &row{size: size}
	if got.value, err = r.overall(ctx, size, n, t.took); err != nil {
		return nil, err
	}
	got.rate = got.value * 1e6 / float64(size)
	if len(o.Percentiles) > 0 {
		values := make([]float64, len(t.samples))
		for i, took := range t.samples {
			values[i] = r.spec.value(size, o.Window, 1, took)
		}
		got.percentiles = percentiles(values, o.Percentiles)
	}
	return got, r.verdict(ctx, got, &t, skip+n)
}

// verdict says of a row whether all iterations on all ranks were right, if that is
// asked for.
func (r *run) verdict(ctx context.Context, got *row, t *timed, iterations int) error {
	if !r.options.Validate {
		return nil
	}
	if t.bad > 0 {
		fmt.Fprintf(r.stderr, "%s: rank %d: %v (%d of %d iterations)\n", r.spec.Name, r.job.rank(), t.first, t.bad, iterations)
	}
	bad, err := r.job.gather(ctx, t.bad)
	if err == nil {
		got.valid = slices.Max(bad) == 0
	}
	return err
}
