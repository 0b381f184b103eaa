package coll

import "math/bits"

// What reductions by recursive doubling and halving have in common: they take place
// among as many ranks as the largest power of two that there is. Of the first ranks,
// pairs of neighbours count as one: the even one acts for both.

// cube is the part of a rank in that.
type cube struct {
	size int // a power of two
	left int // of the ranks, how many are more: so many pairs are one
	v    int // this rank's number there; -1: its neighbour acts for it
}

func (k *call) cube() cube {
	q := cube{size: 1 << (bits.Len(uint(k.size)) - 1)}
	q.left = k.size - q.size
	q.v = q.number(k.rank)
	if k.rank < 2*q.left && k.rank%2 == 1 {
		q.v = -1
	}
	return q
}

// number is the number of a rank, or of the neighbour that acts for it.
func (q cube) number(rank int) int {
	if rank < 2*q.left {
		return rank / 2
	}
	return rank - q.left
}

// rank is who has a number.
func (q cube) rank(v int) int {
	if v < q.left {
		return 2 * v
	}
	return v + q.left
}

// halves says whether a reduction of count values is by halving.
func (k *call) halves(count int, bytes int64) bool { return bytes >= reduceHalving && count >= k.size }

// fold combines the pairs that count as one. spare is as long as acc.
func fold[T any](k *call, q cube, acc, spare []T, op Op[T]) error {
	switch {
	case k.rank >= 2*q.left:
		return nil
	case q.v < 0:
		return send(k, acc, k.rank-1)
	}
	if err := recv(k, spare, k.rank+1); err != nil {
		return err
	}
	op(acc, spare)
	return nil
}

// unfold gives the result to those for whom a neighbour has acted.
func unfold[T any](k *call, q cube, acc []T) error {
	switch {
	case k.rank >= 2*q.left:
		return nil
	case q.v < 0:
		return recv(k, acc, k.rank-1)
	}
	return send(k, acc, k.rank+1)
}

// halve combines by recursive halving: of each pair of ranks, one combines the lower
// half of their values and one the upper. It begins with neighbours, so that the order
// of ranks is kept. At the end this rank has the result in its range of acc.
func halve[T any](k *call, q cube, acc, spare []T, op Op[T]) error {
	whole := span{0, len(acc)}
	for bit := 1; bit < q.size; bit *= 2 {
		peer := q.rank(q.v ^ bit)
		mine, theirs := whole.halves(q.v&bit != 0)
		a, got := acc[mine.from:mine.to], spare[mine.from:mine.to]
		if err := exchange(k, acc[theirs.from:theirs.to], peer, got, peer); err != nil {
			return err
		}
		if q.v&bit == 0 {
			op(a, got)
		} else {
			op(got, a)
			copy(a, got)
		}
		whole = mine
	}
	return nil
}

// span is a range of values.
type span struct{ from, to int }

// halves returns the two halves, that of an upper or a lower rank first.
func (s span) halves(upper bool) (mine, theirs span) {
	mid := s.from + (s.to-s.from)/2
	if upper {
		return span{mid, s.to}, span{s.from, mid}
	}
	return span{s.from, mid}, span{mid, s.to}
}

// before is what the ranks that differ from this one from bit on had together.
func (q cube) before(bit, length int) span {
	s := span{0, length}
	for b := 1; b < bit; b *= 2 {
		s, _ = s.halves(q.v&b != 0)
	}
	return s
}

// allreduceByHalving is halve, and the same way back to collect the parts.
func allreduceByHalving[T any](k *call, acc []T, op Op[T]) error {
	k.by(halving)
	q, spare := k.cube(), temp[T](k, len(acc))
	if err := fold(k, q, acc, spare, op); err != nil {
		return err
	}
	if q.v >= 0 {
		if err := halve(k, q, acc, spare, op); err != nil {
			return err
		}
		for bit := q.size / 2; bit > 0; bit /= 2 {
			peer := q.rank(q.v ^ bit)
			mine, theirs := q.before(bit, len(acc)).halves(q.v&bit != 0)
			if err := exchange(k, acc[mine.from:mine.to], peer, acc[theirs.from:theirs.to], peer); err != nil {
				return err
			}
		}
	}
	return unfold(k, q, acc)
}

// reduceByHalving is halve, and the parts are collected at the root: on the way back,
// the ranks that are on the root's side of a pair receive.
func reduceByHalving[T any](k *call, acc []T, op Op[T]) error {
	k.by(halving)
	q, spare := k.cube(), temp[T](k, len(acc))
	if err := fold(k, q, acc, spare, op); err != nil {
		return err
	}
	root := q.number(k.root)
	actor := q.rank(root)
	if q.v >= 0 {
		if err := halve(k, q, acc, spare, op); err != nil {
			return err
		}
		for bit := q.size / 2; bit > 0; bit /= 2 {
			peer := q.rank(q.v ^ bit)
			mine, theirs := q.before(bit, len(acc)).halves(q.v&bit != 0)
			if q.v&bit != root&bit {
				return send(k, acc[mine.from:mine.to], peer)
			}
			if err := recv(k, acc[theirs.from:theirs.to], peer); err != nil {
				return err
			}
		}
	}
	switch {
	case actor == k.root:
		return nil
	case k.rank == actor:
		return send(k, acc, k.root)
	case k.rank == k.root:
		return recv(k, acc, actor)
	}
	return nil
}
