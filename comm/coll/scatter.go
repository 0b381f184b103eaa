package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// Scatter gives each rank a block of in of rank root: rank r has in[r*len(out):] in out.
// All ranks give the same root and the same length of out; in counts at the root only,
// where its length is len(out) times the size, and out may be its part of it.
//
// Collective; errors are described in the package comment. Short messages go along a
// binomial tree, long ones directly from the root.
func Scatter[T any](ctx context.Context, c *comm.Comm, in, out []T, root int) error {
	k, err := begin[T](ctx, c, scatter, root)
	if err == nil && k.rank == root {
		err = fit("in", len(in), k.size*len(out))
	}
	if err == nil && k.rank == root {
		err = mineOf(out, in, k.rank)
	}
	if err == nil {
		err = scatterBlocks(k, in, out)
	}
	return k.end(err)
}

func scatterBlocks[T any](k *call, in, out []T) error {
	if k.direct(bytesOf(out)) {
		n := len(out)
		return scatterDirectly(k, func(r int) []T { return in[r*n:][:n] }, out)
	}
	return scatterByTree(k, in, out)
}

// Scatterv is Scatter of parts of different lengths: rank r has in[r] of the root in
// out, whose length is the same. See [Cut].
//
// Collective; errors are described in the package comment. The root sends directly to
// each rank.
func Scatterv[T any](ctx context.Context, c *comm.Comm, in [][]T, out []T, root int) error {
	k, err := begin[T](ctx, c, scatterv, root)
	if err == nil && k.rank == root {
		if err = fit("the list in", len(in), k.size); err == nil {
			err = fit("out", len(out), len(in[root]))
		}
		if err == nil {
			err = mineIn(out, in, k.rank)
		}
	}
	if err == nil {
		err = scatterDirectly(k, func(r int) []T { return in[r] }, out)
	}
	return k.end(err)
}

// scatterDirectly gives out blocks whose places the root knows.
func scatterDirectly[T any](k *call, place func(rank int) []T, out []T) error {
	k.by(direct)
	if k.rank != k.root {
		return recv(k, out, k.root)
	}
	for i := range k.size {
		if r := k.rankAt(i); r == k.rank {
			move(out, place(r))
		} else {
			isend(k, place(r), r)
		}
	}
	return k.wait()
}

// scatterByTree is gatherByTree the other way round.
func scatterByTree[T any](k *call, in, out []T) error {
	k.by(tree)
	v, n := k.fromRoot(), len(out)
	have := subtree(v, k.size)
	all := out
	bit := 1
	for ; bit < k.size && v&bit == 0; bit *= 2 {
	}
	switch {
	case v == 0 && k.root == 0:
		all = in
	case have > 1:
		all = temp[T](k, have*n)
	}
	switch {
	case v > 0:
		if err := recv(k, all[:have*n], k.rankAt(v-bit)); err != nil {
			return err
		}
	case k.root != 0:
		first := copy(all, in[k.root*n:])
		copy(all[first:], in[:k.root*n])
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if v+bit < k.size {
			more := min(bit, k.size-v-bit)
			isend(k, all[bit*n:][:more*n], k.rankAt(v+bit))
		}
	}
	move(out, all[:n])
	return k.wait()
}
