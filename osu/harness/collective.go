package harness

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// Collective is a call that all ranks make.
type Collective struct {
	// Send and Recv are how many blocks of the message size this rank's buffers have;
	// 0: it has none.
	Send, Recv int

	// Step makes the call. It is called in the timed loop and must not allocate.
	Step func(ctx context.Context, send, recv []byte) error

	// From says where a block that this rank receives comes from: which rank, and which
	// block of its send buffer.
	From func(block int) (rank, sent int)

	// Sum: it comes from all ranks, and is their sum byte by byte.
	Sum bool
}

// RunCollective runs a benchmark of a collective on all ranks of c, with the program's
// own command line as its options. Rank 0 prints the mean over all ranks.
func RunCollective(ctx context.Context, c *comm.Comm, spec Spec, all Collective) error {
	spec.Metric = Mean
	r := &run{spec: &spec, job: commJob{c}, all: &all, stdout: os.Stdout, stderr: os.Stderr}
	return r.start(ctx, os.Args[1:])
}

// allocateAll makes the buffers of a collective.
func (r *run) allocateAll(alloc func(int) []byte, most int) {
	make := func(blocks int) *window {
		if blocks == 0 || r.spec.Sizeless {
			return nil
		}
		w := newWindow(alloc, &r.options, most*blocks)
		w.blocks = blocks
		return w
	}
	r.send, r.recv = make(r.all.Send), make(r.all.Recv)
}

// memory is a window's one buffer.
func (w *window) memory() []byte {
	if w == nil {
		return nil
	}
	return w.messages[0]
}

// measureAll measures a collective. Each iteration is timed by itself, and all ranks
// meet before the next one.
func (r *run) measureAll(ctx context.Context, size int) (*row, error) {
	o := &r.options
	send, recv := r.send.memory(), r.recv.memory()
	skip, n := o.WarmUp.For(size), o.Iterations.For(size)
	t := timed{samples: r.stamps[:0]}
	for i := range skip + n {
		if o.Validate {
			r.prepare(size, i)
			for range o.ValidateWarmUp {
				if err := r.job.barrier(ctx); err != nil {
					return nil, err
				}
				if err := r.all.Step(ctx, send, recv); err != nil {
					return nil, err
				}
			}
			r.prepare(size, i)
			if err := r.job.barrier(ctx); err != nil {
				return nil, err
			}
		}
		began := now()
		if err := r.all.Step(ctx, send, recv); err != nil {
			return nil, err
		}
		took := now() - began
		if i >= skip {
			t.took += took
			t.samples = append(t.samples, took)
		}
		if o.Validate {
			if bad := r.check(size, i); bad != nil {
				t.bad++
				if t.first == nil {
					t.first = bad
				}
			}
		}
		if r.spec.Sizeless {
			continue // the call itself is what they meet in
		}
		if err := r.job.barrier(ctx); err != nil {
			return nil, err
		}
	}
	got, err := r.mean(ctx, size, &t)
	if err != nil {
		return nil, err
	}
	return got, r.verdict(ctx, got, &t, skip+n)
}

// mean makes the row of what all ranks have measured. A percentile is of the iterations'
// means over the ranks.
func (r *run) mean(ctx context.Context, size int, t *timed) (*row, error) {
	n := len(t.samples)
	us := func(ns int64, of int) float64 { return time.Duration(ns).Seconds() * 1e6 / float64(of) }
	took, err := r.job.gather(ctx, int64(t.took))
	if err != nil {
		return nil, err
	}
	var sum int64
	for _, t := range took {
		sum += t
	}
	got := &row{
		size: size, iterations: n, value: us(sum, n*len(took)),
		min: us(slices.Min(took), n), max: us(slices.Max(took), n),
	}
	if len(r.options.Percentiles) == 0 {
		return got, nil
	}
	each := make([]int64, n)
	for i, s := range t.samples {
		each[i] = int64(s)
	}
	if err := r.job.sum(ctx, each); err != nil {
		return nil, err
	}
	values := make([]float64, n)
	for i, s := range each {
		values[i] = us(s, len(took))
	}
	got.percentiles = percentiles(values, r.options.Percentiles)
	return got, nil
}

// prepareAll writes what iteration i sends, and poisons what it receives into.
func (r *run) prepareAll(size, i int) {
	send := r.send.memory()
	for b := range r.all.Send {
		fill(send[b*size:][:size], seed(size, i, r.job.rank(), b), 0)
	}
	recv := r.recv.memory()
	for b := range r.all.Recv {
		r.expect(recv[b*size:][:size], i, b)
		for j := range size {
			recv[b*size+j] ^= 0xff // whatever does not arrive differs
		}
	}
}

// expect writes what block b of the receive buffer shall hold after iteration i.
func (r *run) expect(mem []byte, i, b int) {
	size := len(mem)
	if !r.all.Sum {
		rank, sent := r.all.From(b)
		fill(mem, seed(size, i, rank, sent), 0)
		return
	}
	clear(mem)
	one := make([]byte, size)
	for rank := range r.job.size() {
		fill(one, seed(size, i, rank, b), 0)
		for j := range mem {
			mem[j] += one[j]
		}
	}
}

// checkAll is check for a collective.
func (r *run) checkAll(size, i int) error {
	bad := func(what string, err error) error {
		return fmt.Errorf("size %d, iteration %d: %s buffer: %w", size, i, what, err)
	}
	if r.send != nil {
		if err := r.send.buffers[0].checkGuards(); err != nil {
			return bad("send", err)
		}
		for b := range r.all.Send {
			if at := mismatch(r.send.memory()[b*size:][:size], seed(size, i, r.job.rank(), b)); at >= 0 {
				return bad("send", fmt.Errorf("byte %d was changed", b*size+at))
			}
		}
	}
	if r.recv != nil {
		if err := r.recv.buffers[0].checkGuards(); err != nil {
			return bad("receive", err)
		}
		want := make([]byte, size)
		for b := range r.all.Recv {
			r.expect(want, i, b)
			for j, c := range r.recv.memory()[b*size:][:size] {
				if c != want[j] {
					return bad("receive", fmt.Errorf("byte %d is %#02x", b*size+j, c))
				}
			}
		}
	}
	return nil
}
