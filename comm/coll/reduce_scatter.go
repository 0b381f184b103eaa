package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// ReduceScatter combines in of all ranks, value by value, and gives each rank a block of
// the result: rank r has that of in[r*len(out):] in out. All ranks give the same lengths
// and the same operator; len(in) is len(out) times the size. out may be this rank's part
// of in, whose other parts are left as they are.
//
// Collective; errors are described in the package comment. Short messages are combined
// at rank 0 and scattered; long ones are sent where they belong, and combined there.
func ReduceScatter[T any](ctx context.Context, c *comm.Comm, in, out []T, op Op[T]) error {
	k, err := begin[T](ctx, c, reduceScatter, 0)
	if err == nil {
		err = fit("in", len(in), k.size*len(out))
	}
	if err == nil {
		err = mineOf(out, in, k.rank)
	}
	if err == nil {
		if bytesOf(out) >= reduceScatterDirect {
			err = reduceScatterDirectly(k, in, out, op)
		} else {
			all := temp[T](k, len(in))
			copy(all, in)
			if err = combine(k, all, op); err == nil {
				err = scatterBlocks(k, all, out)
			}
		}
	}
	return k.end(err)
}

// reduceScatterDirectly: in each round a rank sends the block of a rank farther on, and
// receives its own from one farther back. Those of lower ranks come before those of
// higher ones that went round: two results, which are combined with its own at the end.
func reduceScatterDirectly[T any](k *call, in, out []T, op Op[T]) error {
	k.by(direct)
	n := len(out)
	move(out, in[k.rank*n:][:n])
	got, upper := temp[T](k, n), []T(nil)
	for d := 1; d < k.size; d++ {
		to, from := (k.rank+d)%k.size, (k.rank-d+k.size)%k.size
		if err := exchange(k, in[to*n:][:n], to, got, from); err != nil {
			return err
		}
		switch {
		case from < k.rank: // it stands before all that came until now
			op(got, out)
			copy(out, got)
		case upper == nil: // the highest rank
			upper, got = got, temp[T](k, n)
		default:
			op(got, upper)
			upper, got = got, upper
		}
	}
	if upper != nil {
		op(out, upper)
	}
	return nil
}
