//go:build linux

package jobtest

import (
	"fmt"
	"testing"
)

// product lists all combinations of one value of each list.
func product(lists ...[]string) [][]string {
	all := [][]string{nil}
	for _, values := range lists {
		var next [][]string
		for _, head := range all {
			for _, v := range values {
				next = append(next, append(append([]string{}, head...), v))
			}
		}
		all = next
	}
	return all
}

// pairwise is a small part of the product in which each value of each list
// meets each value of each other list.
func pairwise(lists ...[]string) [][]string {
	all := product(lists...)
	left := map[string]bool{}
	for _, c := range all {
		for _, p := range pairsOf(c) {
			left[p] = true
		}
	}
	var chosen [][]string
	for len(left) > 0 {
		var best []string
		most := 0
		for _, c := range all {
			n := 0
			for _, p := range pairsOf(c) {
				if left[p] {
					n++
				}
			}
			if n > most {
				best, most = c, n
			}
		}
		for _, p := range pairsOf(best) {
			delete(left, p)
		}
		chosen = append(chosen, best)
	}
	return chosen
}

func pairsOf(c []string) []string {
	var pairs []string
	for i := range c {
		for k := range i {
			pairs = append(pairs, fmt.Sprintf("%d=%s %d=%s", k, c[k], i, c[i]))
		}
	}
	return pairs
}

func TestPairwise(t *testing.T) {
	lists := [][]string{{"a", "b"}, {"c", "d", "e"}, {"f", "g", "h", "i"}, {"k"}}
	all, some := product(lists...), pairwise(lists...)
	if len(all) != 24 || len(some) < 12 || len(some) > 14 {
		t.Errorf("%d of %d", len(some), len(all))
	}
	seen := map[string]bool{}
	for _, c := range some {
		for _, p := range pairsOf(c) {
			seen[p] = true
		}
	}
	for _, c := range all {
		for _, p := range pairsOf(c) {
			if !seen[p] {
				t.Errorf("missing: %s", p)
			}
		}
	}
}
