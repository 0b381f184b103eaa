package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// Scan combines in of the ranks up to this one, value by value, into out. All ranks give
// the same length and the same operator; out is as long as in, and may be the same.
//
// Collective; errors are described in the package comment. It is by doubling: after each
// round a rank has combined twice as many of those before it.
func Scan[T any](ctx context.Context, c *comm.Comm, in, out []T, op Op[T]) error {
	k, err := begin[T](ctx, c, scan, 0)
	if err == nil {
		err = fit("out", len(out), len(in))
	}
	if err == nil {
		err = apart(in, out)
	}
	if err == nil {
		move(out, in)
		err = scanAll(k, out, nil, op)
	}
	return k.end(err)
}

// Exscan combines in of the ranks before this one, value by value, into out. At rank 0,
// which has none before it, out is left as it is. All ranks give the same length and the
// same operator; out is as long as in, and may be the same.
//
// Collective; errors are described in the package comment. It is by doubling, as Scan.
func Exscan[T any](ctx context.Context, c *comm.Comm, in, out []T, op Op[T]) error {
	k, err := begin[T](ctx, c, exscan, 0)
	if err == nil {
		err = fit("out", len(out), len(in))
	}
	if err == nil {
		err = apart(in, out)
	}
	if err == nil {
		acc := temp[T](k, len(in))
		copy(acc, in)
		err = scanAll(k, acc, out, op)
	}
	return k.end(err)
}

// scanAll combines acc with that of the ranks before, and stores in before, unless it is
// nil, the same without this rank's own.
func scanAll[T any](k *call, acc, before []T, op Op[T]) error {
	if k.size == 1 {
		return nil
	}
	k.by(doubling)
	lower := temp[T](k, len(acc))
	var combined []T
	if before != nil {
		combined = temp[T](k, len(acc))
	}
	for d := 1; d < k.size; d *= 2 {
		// What is sent is what this round began with.
		if k.rank+d < k.size {
			isend(k, acc, k.rank+d)
		}
		if k.rank >= d {
			irecv(k, lower, k.rank-d)
		}
		if err := k.wait(); err != nil {
			return err
		}
		if k.rank < d {
			continue
		}
		switch {
		case before == nil:
		case d == 1:
			copy(before, lower)
		default:
			copy(combined, lower)
			op(combined, before)
			copy(before, combined)
		}
		op(lower, acc)
		copy(acc, lower)
	}
	return nil
}
