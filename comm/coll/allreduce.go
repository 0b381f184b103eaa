package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// Allreduce combines in of all ranks, value by value, into out of all ranks. All ranks
// give the same length and the same operator; out is as long as in, and may be the same.
//
// Collective; errors are described in the package comment. Short messages go by
// recursive doubling, long ones by recursive halving and doubling (Rabenseifner). All
// ranks have the same result, to the last bit.
func Allreduce[T any](ctx context.Context, c *comm.Comm, in, out []T, op Op[T]) error {
	k, err := begin[T](ctx, c, allreduce, 0)
	if err == nil {
		err = fit("out", len(out), len(in))
	}
	if err == nil {
		err = apart(in, out)
	}
	if err == nil {
		move(out, in)
		switch {
		case k.size == 1:
		case k.halves(len(out), bytesOf(out)):
			err = allreduceByHalving(k, out, op)
		default:
			err = allreduceByDoubling(k, out, op)
		}
	}
	return k.end(err)
}

// allreduceByDoubling: in each round two groups of ranks exchange what they have
// combined, and are one group.
func allreduceByDoubling[T any](k *call, acc []T, op Op[T]) error {
	k.by(doubling)
	q, spare := k.cube(), temp[T](k, len(acc))
	if err := fold(k, q, acc, spare, op); err != nil {
		return err
	}
	for bit := 1; bit < q.size && q.v >= 0; bit *= 2 {
		peer := q.rank(q.v ^ bit)
		if err := exchange(k, acc, peer, spare, peer); err != nil {
			return err
		}
		if q.v&bit == 0 {
			op(acc, spare)
		} else {
			op(spare, acc)
			copy(acc, spare)
		}
	}
	return unfold(k, q, acc)
}
