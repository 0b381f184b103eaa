package coll

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// Bcast sends buf of rank root to all ranks, into their buf. All ranks give the same
// root and the same length.
//
// Collective; errors are described in the package comment. A short message goes along a
// binomial tree. A long one is scattered, and the parts go round in a ring (van de
// Geijn): each rank moves it twice, however many they are.
func Bcast[T any](ctx context.Context, c *comm.Comm, buf []T, root int) error {
	k, err := begin[T](ctx, c, bcast, root)
	if err == nil && k.size > 1 {
		if k.size >= bcastRingRanks && bytesOf(buf) >= bcastRing {
			err = bcastByRing(k, buf)
		} else {
			err = bcastByTree(k, buf)
		}
	}
	return k.end(err)
}

// bcastByTree: rank v, counted from the root, has it from the rank that is v without its
// lowest bit, and sends it to those that are v with a lower bit more, the farthest first.
func bcastByTree[T any](k *call, buf []T) error {
	k.by(tree)
	v := k.fromRoot()
	bit := 1
	for ; bit < k.size && v&bit == 0; bit *= 2 {
	}
	if v != 0 {
		if err := recv(k, buf, k.rankAt(v-bit)); err != nil {
			return err
		}
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if v+bit < k.size {
			isend(k, buf, k.rankAt(v+bit))
		}
	}
	return k.wait()
}

// bcastByRing scatters the message's parts along the same tree, and sends them round.
func bcastByRing[T any](k *call, buf []T) error {
	k.by(ring)
	v, n := k.fromRoot(), k.size
	from := func(v int) int { return part(len(buf), min(v, n), n) }
	bit := 1
	for ; bit < n && v&bit == 0; bit *= 2 {
	}
	if v != 0 {
		if err := recv(k, buf[from(v):from(v+bit)], k.rankAt(v-bit)); err != nil {
			return err
		}
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if v+bit < n {
			isend(k, buf[from(v+bit):from(v+2*bit)], k.rankAt(v+bit))
		}
	}
	if err := k.wait(); err != nil {
		return err
	}
	return goRound(k, k.rankAt(v+1), k.rankAt(v-1), v, func(i int) []T { return block(buf, i, n) })
}

// fromRoot is this rank's number, counted from the root.
func (k *call) fromRoot() int { return (k.rank - k.root + k.size) % k.size }

// rankAt is the rank whose number from the root is v.
func (k *call) rankAt(v int) int { return (v + k.root + k.size) % k.size }
