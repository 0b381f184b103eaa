package coll_test

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

// one is one collective, and how it is checked.
type one[T comparable] struct {
	name   string
	rooted bool
	run    func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, inPlace bool, seed uint64) error
}

// result checks a buffer of room's, and its guards; and that the input is as it was.
func result[T comparable](want, got []T, g *guarded[T], in, inWas []T) error {
	if err := alike(want, got); err != nil {
		return err
	}
	if err := alike(inWas, in); err != nil {
		return err
	}
	return g.untouched()
}

func calls[T comparable]() []one[T] {
	return []one[T]{
		{"Bcast", true, func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, _ bool, seed uint64) error {
			buf, g := k.room(n)
			if c.Rank() == root {
				copy(buf, k.values(seed, root, n))
			}
			if err := coll.Bcast(ctx, c, buf, root); err != nil {
				return err
			}
			return result(k.values(seed, root, n), buf, g, nil, nil)
		}},
		{"Reduce", true, func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, inPlace bool, seed uint64) error {
			in, out, g := k.pair(c, n, inPlace && c.Rank() == root, seed)
			was, want := slices.Clone(in), k.combined(seed, 0, c.Size(), n)
			if c.Rank() != root {
				out, want = nil, nil
			}
			if err := coll.Reduce(ctx, c, in, out, root, k.op); err != nil {
				return err
			}
			if inPlace {
				in, was = nil, nil
			}
			return result(want, out, g, in, was)
		}},
		{"Allreduce", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			in, out, g := k.pair(c, n, inPlace, seed)
			was := slices.Clone(in)
			if err := coll.Allreduce(ctx, c, in, out, k.op); err != nil {
				return err
			}
			if inPlace {
				in, was = nil, nil
			}
			return result(k.combined(seed, 0, c.Size(), n), out, g, in, was)
		}},
		{"Scan", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			in, out, g := k.pair(c, n, inPlace, seed)
			was := slices.Clone(in)
			if err := coll.Scan(ctx, c, in, out, k.op); err != nil {
				return err
			}
			if inPlace {
				in, was = nil, nil
			}
			return result(k.combined(seed, 0, c.Rank()+1, n), out, g, in, was)
		}},
		{"Exscan", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			in, out, g := k.pair(c, n, inPlace, seed)
			was, want := slices.Clone(in), slices.Clone(out)
			if err := coll.Exscan(ctx, c, in, out, k.op); err != nil {
				return err
			}
			if c.Rank() > 0 {
				want = k.combined(seed, 0, c.Rank(), n)
			}
			if inPlace {
				in, was = nil, nil
			}
			return result(want, out, g, in, was)
		}},
		{"ReduceScatter", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			all := n * c.Size()
			in, gin := k.room(all)
			copy(in, k.values(seed, c.Rank(), all))
			out, g := k.room(n)
			was := slices.Clone(in)
			if inPlace {
				out, g = in[c.Rank()*n:][:n], gin
			}
			if err := coll.ReduceScatter(ctx, c, in, out, k.op); err != nil {
				return err
			}
			want := k.combined(seed, 0, c.Size(), all)[c.Rank()*n:][:n]
			if inPlace {
				copy(was[c.Rank()*n:], want)
			}
			return result(want, out, g, in, was)
		}},
		{"Gather", true, func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, inPlace bool, seed uint64) error {
			in := k.values(seed, c.Rank(), n)
			var out []T
			var g *guarded[T]
			var want []T
			if c.Rank() == root {
				want = k.joined(seed, c.Size(), n)
				out, g = k.room(len(want))
				if inPlace {
					in = out[root*n:][:copy(out[root*n:], in)]
				}
			} else {
				_, g = k.room(0)
			}
			was := slices.Clone(in)
			if err := coll.Gather(ctx, c, in, out, root); err != nil {
				return err
			}
			return result(want, out, g, in, was)
		}},
		{"Allgather", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			in := k.values(seed, c.Rank(), n)
			want := k.joined(seed, c.Size(), n)
			out, g := k.room(len(want))
			if inPlace {
				in = out[c.Rank()*n:][:copy(out[c.Rank()*n:], in)]
			}
			was := slices.Clone(in)
			if err := coll.Allgather(ctx, c, in, out); err != nil {
				return err
			}
			return result(want, out, g, in, was)
		}},
		{"Scatter", true, func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, inPlace bool, seed uint64) error {
			all := k.values(seed, root, n*c.Size())
			want := all[c.Rank()*n:][:n]
			var in []T
			out, g := k.room(n)
			if c.Rank() == root {
				in = slices.Clone(all)
				if inPlace {
					out = in[root*n:][:n]
				}
			}
			was := slices.Clone(in)
			if err := coll.Scatter(ctx, c, in, out, root); err != nil {
				return err
			}
			return result(want, out, g, in, was)
		}},
		{"Alltoall", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			all := n * c.Size()
			in, out, g := k.pair(c, all, inPlace && c.Rank()%3 != 0, seed) // each rank as it likes
			was := slices.Clone(in)
			var want []T
			for r := range c.Size() {
				want = append(want, k.values(seed, r, all)[c.Rank()*n:][:n]...)
			}
			if err := coll.Alltoall(ctx, c, in, out); err != nil {
				return err
			}
			if inPlace {
				in, was = nil, nil
			}
			return result(want, out, g, in, was)
		}},
		{"Gatherv", true, func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, inPlace bool, seed uint64) error {
			counts := counts(seed, c.Size(), n)
			in := k.values(seed, c.Rank(), counts[c.Rank()])
			want := k.parts(seed, counts)
			out, g := k.room(len(want))
			list := coll.Cut(out, counts)
			if c.Rank() != root {
				want, out, list = nil, nil, nil
			} else if inPlace {
				in = list[root][:copy(list[root], in)]
			}
			was := slices.Clone(in)
			if err := coll.Gatherv(ctx, c, in, list, root); err != nil {
				return err
			}
			return result(want, out, g, in, was)
		}},
		{"Allgatherv", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			counts := counts(seed, c.Size(), n)
			in := k.values(seed, c.Rank(), counts[c.Rank()])
			want := k.parts(seed, counts)
			out, g := k.room(len(want))
			list := coll.Cut(out, counts)
			if inPlace {
				in = list[c.Rank()][:copy(list[c.Rank()], in)]
			}
			was := slices.Clone(in)
			if err := coll.Allgatherv(ctx, c, in, list); err != nil {
				return err
			}
			return result(want, out, g, in, was)
		}},
		{"Scatterv", true, func(ctx context.Context, c *comm.Comm, k kind[T], n, root int, inPlace bool, seed uint64) error {
			counts := counts(seed, c.Size(), n)
			list := coll.Cut(k.parts(seed, counts), counts)
			want := list[c.Rank()]
			out, g := k.room(len(want))
			if c.Rank() != root {
				list = nil
			} else if inPlace {
				out = list[root]
			}
			if err := coll.Scatterv(ctx, c, list, out, root); err != nil {
				return err
			}
			return result(want, out, g, nil, nil)
		}},
		{"Alltoallv", false, func(ctx context.Context, c *comm.Comm, k kind[T], n, _ int, inPlace bool, seed uint64) error {
			// Rank a sends table[a][b] values to rank b.
			table := make([][]int, c.Size())
			for r := range table {
				table[r] = counts(seed+uint64(r)*7919, c.Size(), n)
			}
			var in, out, want [][]T
			var guards []*guarded[T]
			for r := range c.Size() {
				gives, gets := table[c.Rank()][r], table[r][c.Rank()]
				from, _ := k.room(gives)
				copy(from, k.values(seed+uint64(r), c.Rank(), gives))
				to, g := k.room(gets)
				if inPlace && gives == gets {
					to = from
				}
				in, out, guards = append(in, from), append(out, to), append(guards, g)
				want = append(want, k.values(seed+uint64(c.Rank()), r, gets))
			}
			if err := coll.Alltoallv(ctx, c, in, out); err != nil {
				return err
			}
			for r := range out {
				if err := result(want[r], out[r], guards[r], nil, nil); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// pair makes the buffers of a reduction, in place or not.
func (k kind[T]) pair(c *comm.Comm, n int, inPlace bool, seed uint64) (in, out []T, g *guarded[T]) {
	out, g = k.room(n)
	in = k.values(seed, c.Rank(), n)
	if inPlace {
		in = out[:copy(out, in)]
	}
	return in, out, g
}

// counts are how many values each rank has: about n, some of them none.
func counts(seed uint64, size, n int) []int {
	r := rand.New(rand.NewPCG(seed, 77))
	all := make([]int, size)
	for i := range all {
		if r.IntN(4) > 0 {
			all[i] = r.IntN(n + 1)
		}
	}
	return all
}

// parts are the values of all ranks, of as many as each has.
func (k kind[T]) parts(seed uint64, counts []int) []T {
	var all []T
	for r, n := range counts {
		all = append(all, k.values(seed, r, n)...)
	}
	return all
}
