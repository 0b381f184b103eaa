package comm

import (
	"fmt"
	"slices"
)

// DimsCreate spreads n ranks over a grid, for [Comm.Cart]. Dimensions that are not 0
// are left as they are; those that are 0 are chosen as close to each other as can be,
// the larger ones first. It needs no communication. A number below 1, a dimension
// below 0, and dimensions of which n is no multiple are an error, ErrGrid.
//
// Of all choices it takes one with the least difference between the largest and the
// smallest, and of these the one with the smallest largest, second largest, and so on.
func DimsCreate(n int, dims []int) ([]int, error) {
	if n < 1 {
		return nil, fmt.Errorf("comm: DimsCreate: %w: %d ranks", ErrGrid, n)
	}
	left, open := n, 0
	for i, d := range dims {
		switch {
		case d < 0:
			return nil, fmt.Errorf("comm: DimsCreate: %w: %d ranks in dimension %d", ErrGrid, d, i)
		case d == 0:
			open++
		case left%d != 0:
			return nil, fmt.Errorf("comm: DimsCreate: %w: %d ranks don't fill %v", ErrGrid, n, dims)
		default:
			left /= d
		}
	}
	if open == 0 && left != 1 {
		return nil, fmt.Errorf("comm: DimsCreate: %w: %d ranks don't fill %v", ErrGrid, n, dims)
	}
	chosen := balance(left, open)
	out := slices.Clone(dims)
	for i, d := range out {
		if d == 0 {
			out[i], chosen = chosen[0], chosen[1:]
		}
	}
	return out, nil
}

// balance is n as a product of k factors that are close to each other, largest first.
func balance(n, k int) []int {
	if k == 0 {
		return nil
	}
	s := balancer{divisors: divisors(n), spread: n, now: make([]int, 0, k)}
	s.search(n, k)
	return s.best
}

// balancer looks through the products, for the best one so far.
type balancer struct {
	divisors []int // ascending
	now      []int // descending factors
	best     []int
	spread   int // of best: the largest less the smallest
}

// search completes now with k factors whose product is n. Larger first factors come
// later, so a product must have a smaller spread than the best one to be better.
func (s *balancer) search(n, k int) {
	least := 1 // that a factor may be
	switch {
	case len(s.now) == 0:
		least = largestPrime(n)
	case s.best != nil:
		least = max(s.now[0]-s.spread+1, 1)
	}
	if k == 0 {
		if n == 1 && (s.best == nil || s.now[0]-s.now[len(s.now)-1] < s.spread) {
			s.best, s.spread = slices.Clone(s.now), s.now[0]-s.now[len(s.now)-1]
		}
		return
	}
	for _, d := range s.divisors {
		switch {
		case len(s.now) > 0 && d > s.now[len(s.now)-1] || d > n:
			return
		case d < least || n%d != 0 || !canFill(d, k, n):
			continue
		}
		s.now = append(s.now, d)
		s.search(n/d, k-1)
		s.now = s.now[:len(s.now)-1]
	}
}

// canFill says whether k factors of at most d can make n.
func canFill(d, k, n int) bool {
	for ; k > 0 && n > 1; k-- {
		n = (n-1)/d + 1
	}
	return n == 1
}

// largestPrime is the largest prime factor of n, or 1.
func largestPrime(n int) int {
	p := 1
	for d := 2; d <= n/d; d++ {
		for n%d == 0 {
			p, n = d, n/d
		}
	}
	return max(p, n)
}

func divisors(n int) (all []int) {
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			all = append(all, d)
			if d != n/d {
				all = append(all, n/d)
			}
		}
	}
	slices.Sort(all)
	return all
}
