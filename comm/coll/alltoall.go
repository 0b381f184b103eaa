package coll

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/verbena-mpi/verbena/comm"
)

// Alltoall exchanges blocks between all ranks: block r of in goes to rank r, and block r
// of out comes from it. in and out have the same length, on all ranks, which is a
// multiple of the size; they may be the same.
//
// Collective; errors are described in the package comment. Short blocks go by Bruck's
// algorithm, long ones pair by pair.
func Alltoall[T any](ctx context.Context, c *comm.Comm, in, out []T) error {
	k, err := begin[T](ctx, c, alltoall, 0)
	if err == nil {
		err = fit("out", len(out), len(in))
	}
	if err == nil && len(in)%k.size != 0 {
		err = fmt.Errorf("%w: %d values are not a multiple of %d ranks", ErrLength, len(in), k.size)
	}
	if err == nil {
		err = apart(in, out)
	}
	if err == nil {
		n := len(in) / k.size
		from := func(r int) []T { return in[r*n:][:n] }
		to := func(r int) []T { return out[r*n:][:n] }
		if k.size >= alltoallDirectRanks && bytesOf(in[:n]) < alltoallDirect {
			err = alltoallByBruck(k, in, out, n)
		} else {
			err = alltoallByPairs(k, from, to)
		}
	}
	return k.end(err)
}

// Alltoallv is Alltoall of parts of different lengths: in[r] goes to rank r, and out[r]
// comes from it, whose length is that of its part for this rank. in[r] and out[r] may be
// the same, where as much comes as goes. See [Cut].
//
// Collective; errors are described in the package comment. It goes pair by pair.
func Alltoallv[T any](ctx context.Context, c *comm.Comm, in, out [][]T) error {
	k, err := begin[T](ctx, c, alltoallv, 0)
	if err == nil && len(in) != k.size {
		err = fit("the list in", len(in), k.size)
	}
	if err == nil {
		err = parts("out", out, k.size)
	}
	if err == nil {
		err = fit("the own part of out", len(out[k.rank]), len(in[k.rank]))
	}
	if err == nil {
		err = listsApart(in, out)
	}
	if err == nil {
		err = alltoallByPairs(k, func(r int) []T { return in[r] }, func(r int) []T { return out[r] })
	}
	return k.end(err)
}

// alltoallByPairs: in each round pairs of ranks exchange their blocks: those whose
// numbers add up to the round's, modulo the size, or, where all can be in pairs, those
// whose numbers differ in its bits. A block that is received where the other one is sent
// from is sent from a copy: so it makes no difference to other ranks whether a call is
// in place.
func alltoallByPairs[T any](k *call, from, to func(rank int) []T) error {
	k.by(direct)
	move(to(k.rank), from(k.rank))
	even := bits.OnesCount(uint(k.size)) == 1
	var spare []T
	for round := range k.size {
		peer := (round - k.rank + k.size) % k.size
		if even {
			peer = round ^ k.rank
		}
		if peer == k.rank {
			continue
		}
		out, in := from(peer), to(peer)
		if len(out) > 0 && same(out, in) {
			if len(spare) < len(out) {
				spare = temp[T](k, len(out))
			}
			out = spare[:copy(spare, out)]
		}
		if err := exchange(k, out, peer, in, peer); err != nil {
			return err
		}
	}
	return nil
}

// alltoallByBruck: block i is that which goes i ranks on. In the round of each bit, all
// blocks whose number has it go so many ranks on, in one message.
func alltoallByBruck[T any](k *call, in, out []T, n int) error {
	k.by(bruck)
	all := temp[T](k, len(in))
	first := copy(all, in[k.rank*n:])
	copy(all[first:], in[:k.rank*n])
	most := (k.size + 1) / 2 * n
	pack, got := temp[T](k, most), temp[T](k, most)
	for bit := 1; bit < k.size; bit *= 2 {
		size := 0
		for i := bit; i < k.size; i++ {
			if i&bit != 0 {
				size += copy(pack[size:], all[i*n:][:n])
			}
		}
		to, from := (k.rank+bit)%k.size, (k.rank-bit+k.size)%k.size
		if err := exchange(k, pack[:size], to, got[:size], from); err != nil {
			return err
		}
		size = 0
		for i := bit; i < k.size; i++ {
			if i&bit != 0 {
				size += copy(all[i*n:][:n], got[size:])
			}
		}
	}
	for i := range k.size {
		copy(out[(k.rank-i+k.size)%k.size*n:][:n], all[i*n:])
	}
	return nil
}
