package coll

import "fmt"

// Cut cuts a buffer into parts that lie one behind the other, for the calls whose parts
// have different lengths: count[r] values for rank r. Together they must not be more
// than there are.
//
//	err := coll.Gatherv(ctx, c, mine, coll.Cut(all, counts), 0)
func Cut[T any](buf []T, counts []int) [][]T {
	list, at := make([][]T, len(counts)), 0
	for r, n := range counts {
		if n < 0 || n > len(buf)-at {
			panic(fmt.Sprintf("coll: Cut: part %d of %d values begins at %d of %d", r, n, at, len(buf)))
		}
		list[r] = buf[at : at+n : at+n]
		at += n
	}
	return list
}
