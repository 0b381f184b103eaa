package coll

import (
	"context"
	"math/bits"

	"github.com/verbena-mpi/verbena/comm"
)

// Allgather collects in of each rank in out of all ranks: that of rank r is
// out[r*len(in):]. All ranks give the same length, and len(out) is len(in) times the
// size. in may be this rank's part of out.
//
// Collective; errors are described in the package comment. Short messages go by
// recursive doubling, or by Bruck's algorithm if the size is no power of two; long ones
// go round in a ring.
func Allgather[T any](ctx context.Context, c *comm.Comm, in, out []T) error {
	k, err := begin[T](ctx, c, allgather, 0)
	if err == nil {
		err = fit("out", len(out), k.size*len(in))
	}
	if err == nil {
		err = mineOf(in, out, k.rank)
	}
	if err == nil {
		err = allgatherBlocks(k, in, out)
	}
	return k.end(err)
}

func allgatherBlocks[T any](k *call, in, out []T) error {
	n := len(in)
	mine := out[k.rank*n:][:n]
	switch {
	case k.size == 1:
		move(mine, in)
		return nil
	case bytesOf(out) >= allgatherRing:
		k.by(ring)
		move(mine, in)
		return goRound(k, (k.rank+1)%k.size, (k.rank+k.size-1)%k.size, k.rank, func(i int) []T { return out[i*n:][:n] })
	case bits.OnesCount(uint(k.size)) == 1:
		move(mine, in)
		return allgatherByDoubling(k, out, n)
	}
	return allgatherByBruck(k, in, out)
}

// allgatherByDoubling: in each round two groups of ranks exchange what they have, and
// are one group.
func allgatherByDoubling[T any](k *call, out []T, n int) error {
	k.by(doubling)
	for bit := 1; bit < k.size; bit *= 2 {
		peer := k.rank ^ bit
		mine, theirs := k.rank&^(bit-1), peer&^(bit-1)
		if err := exchange(k, out[mine*n:][:bit*n], peer, out[theirs*n:][:bit*n], peer); err != nil {
			return err
		}
	}
	return nil
}

// allgatherByBruck: after each round a rank has the blocks of twice as many ranks, from
// its own on. They are put in order at the end.
func allgatherByBruck[T any](k *call, in, out []T) error {
	k.by(doubling)
	n := len(in)
	all := temp[T](k, k.size*n)
	copy(all, in)
	for have := 1; have < k.size; have *= 2 {
		more := min(have, k.size-have)
		to, from := (k.rank-have+k.size)%k.size, (k.rank+have)%k.size
		if err := exchange(k, all[:more*n], to, all[have*n:][:more*n], from); err != nil {
			return err
		}
	}
	first := (k.size - k.rank) * n
	copy(out[k.rank*n:], all[:first])
	copy(out, all[first:])
	return nil
}

// Allgatherv is Allgather of parts of different lengths: that of rank r goes to out[r],
// whose length is that of in there. in may be this rank's part. See [Cut].
//
// Collective; errors are described in the package comment. The parts go round in a ring.
func Allgatherv[T any](ctx context.Context, c *comm.Comm, in []T, out [][]T) error {
	k, err := begin[T](ctx, c, allgatherv, 0)
	if err == nil {
		err = parts("out", out, k.size)
	}
	if err == nil {
		err = fit("in", len(in), len(out[k.rank]))
	}
	if err == nil {
		err = mineIn(in, out, k.rank)
	}
	if err == nil {
		k.by(ring)
		move(out[k.rank], in)
		err = goRound(k, (k.rank+1)%k.size, (k.rank+k.size-1)%k.size, k.rank, func(i int) []T { return out[i] })
	}
	return k.end(err)
}

// goRound sends blocks round in a ring, until all ranks have all. This rank has the one
// of number v, and its left neighbour the one before it.
func goRound[T any](k *call, right, left, v int, block func(int) []T) error {
	for range k.size - 1 {
		next := (v + k.size - 1) % k.size
		if err := exchange(k, block(v), right, block(next), left); err != nil {
			return err
		}
		v = next
	}
	return nil
}
