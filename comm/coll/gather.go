package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// Gather collects in of each rank in out of rank root: that of rank r is
// out[r*len(in):]. All ranks give the same root and the same length; out counts at the
// root only, where its length is len(in) times the size, and in may be its part of it.
//
// Collective; errors are described in the package comment. Short messages go along a
// binomial tree, long ones directly to the root.
func Gather[T any](ctx context.Context, c *comm.Comm, in, out []T, root int) error {
	k, err := begin[T](ctx, c, gather, root)
	if err == nil && k.rank == root {
		err = fit("out", len(out), k.size*len(in))
	}
	if err == nil && k.rank == root {
		err = mineOf(in, out, k.rank)
	}
	if err == nil {
		n := len(in)
		if k.direct(bytesOf(in)) {
			err = gatherDirectly(k, in, func(r int) []T { return out[r*n:][:n] })
		} else {
			err = gatherByTree(k, in, out)
		}
	}
	return k.end(err)
}

// direct says whether blocks are gathered and scattered directly.
func (k *call) direct(bytes int64) bool {
	return k.size < gatherDirectRanks || bytes >= gatherDirect
}

// Gatherv is Gather of parts of different lengths: that of rank r goes to out[r] of the
// root, whose length is that of in there. See [Cut].
//
// Collective; errors are described in the package comment. Each rank sends directly to
// the root.
func Gatherv[T any](ctx context.Context, c *comm.Comm, in []T, out [][]T, root int) error {
	k, err := begin[T](ctx, c, gatherv, root)
	if err == nil && k.rank == root {
		if err = parts("out", out, k.size); err == nil {
			err = fit("in", len(in), len(out[root]))
		}
		if err == nil {
			err = mineIn(in, out, k.rank)
		}
	}
	if err == nil {
		err = gatherDirectly(k, in, func(r int) []T { return out[r] })
	}
	return k.end(err)
}

// gatherDirectly collects blocks whose places the root knows.
func gatherDirectly[T any](k *call, in []T, place func(rank int) []T) error {
	k.by(direct)
	if k.rank != k.root {
		return send(k, in, k.root)
	}
	for r := range k.size {
		if r == k.rank {
			move(place(r), in)
		} else {
			irecv(k, place(r), r)
		}
	}
	return k.wait()
}

// gatherByTree: rank v, counted from the root, collects the blocks of those up to its
// lowest bit behind it, and sends them to the rank that is v without that bit.
func gatherByTree[T any](k *call, in, out []T) error {
	k.by(tree)
	v, n := k.fromRoot(), len(in)
	have := subtree(v, k.size)
	all := in
	switch {
	case v == 0 && k.root == 0:
		all = out
	case have > 1:
		all = temp[T](k, have*n)
	}
	move(all[:n], in)
	for bit := 1; bit < k.size; bit *= 2 {
		if v&bit != 0 {
			return send(k, all[:have*n], k.rankAt(v-bit))
		}
		if v+bit < k.size {
			more := min(bit, k.size-v-bit)
			if err := recv(k, all[bit*n:][:more*n], k.rankAt(v+bit)); err != nil {
				return err
			}
		}
	}
	if k.root != 0 {
		first := (k.size - k.root) * n
		copy(out[k.root*n:], all[:first])
		copy(out, all[first:])
	}
	return nil
}

// subtree is how many ranks are in the subtree of rank v, counted from the root.
func subtree(v, size int) int {
	if v == 0 {
		return size
	}
	return min(v&-v, size-v)
}
