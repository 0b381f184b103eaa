package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// Reduce combines in of all ranks, value by value, into out of rank root. All ranks
// give the same root, the same length and the same operator; out counts at the root
// only, where it is as long as in, and may be the same.
//
// Collective; errors are described in the package comment. Short messages go along
// binomial trees, long ones by recursive halving (Rabenseifner).
func Reduce[T any](ctx context.Context, c *comm.Comm, in, out []T, root int, op Op[T]) error {
	k, err := begin[T](ctx, c, reduce, root)
	if err == nil && k.rank == root {
		err = fit("out", len(out), len(in))
	}
	if err == nil && k.rank == root {
		err = apart(in, out)
	}
	if err == nil {
		if k.rank != root {
			out = temp[T](k, len(in))
		}
		move(out, in)
		err = combine(k, out, op)
	}
	return k.end(err)
}

// combine combines acc of all ranks at the root; what the others have in theirs is
// anything then.
func combine[T any](k *call, acc []T, op Op[T]) error {
	switch {
	case k.size == 1:
		return nil
	case k.halves(len(acc), bytesOf(acc)):
		return reduceByHalving(k, acc, op)
	}
	return reduceByTree(k, acc, op)
}

// reduceByTree: the ranks from the root up are combined at the root, those below it at
// rank 0, which sends the result to the root. So the order of ranks is kept, with
// at most one message more in a row than in a single tree.
func reduceByTree[T any](k *call, acc []T, op Op[T]) error {
	k.by(tree)
	if k.rank >= k.root {
		if err := combineTo(k, acc, k.root, k.size, op); err != nil || k.rank != k.root || k.root == 0 {
			return err
		}
		lower := temp[T](k, len(acc))
		if err := recv(k, lower, 0); err != nil {
			return err
		}
		op(lower, acc)
		copy(acc, lower)
		return nil
	}
	if err := combineTo(k, acc, 0, k.root, op); err != nil || k.rank != 0 {
		return err
	}
	return send(k, acc, k.root)
}

// combineTo combines acc of the ranks from first to below end at the first, along a
// binomial tree: each rank combines those behind it before it sends.
func combineTo[T any](k *call, acc []T, first, end int, op Op[T]) error {
	v, n := k.rank-first, end-first
	var upper []T
	for bit := 1; bit < n; bit *= 2 {
		if v&bit != 0 {
			return send(k, acc, k.rank-bit)
		}
		if v+bit >= n {
			continue
		}
		if upper == nil {
			upper = temp[T](k, len(acc))
		}
		if err := recv(k, upper, k.rank+bit); err != nil {
			return err
		}
		op(acc, upper)
	}
	return nil
}
