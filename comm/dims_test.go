package comm

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveBalance looks at all products of k factors.
func naiveBalance(n, k int) (best []int) {
	var walk func(left int, now []int)
	walk = func(left int, now []int) {
		if len(now) == k {
			if left != 1 {
				return
			}
			worse := func(a, b []int) bool {
				x, y := a[0]-a[k-1], b[0]-b[k-1]
				return x > y || x == y && slices.Compare(a, b) > 0
			}
			if best == nil || worse(best, now) {
				best = slices.Clone(now)
			}
			return
		}
		for d := 1; d <= left; d++ {
			if left%d == 0 && (len(now) == 0 || d <= now[len(now)-1]) {
				walk(left/d, append(now, d))
			}
		}
	}
	walk(n, nil)
	return best
}

func TestDimsCreateModel(t *testing.T) {
	for k := 1; k <= 4; k++ {
		for n := 1; n <= 300; n++ {
			got, err := DimsCreate(n, make([]int, k))
			if d := cmp.Diff(naiveBalance(n, k), got); d != "" || err != nil {
				t.Fatalf("%d in %d dimensions (-want +got), %v:\n%s", n, k, err, d)
			}
		}
	}
}

func TestDimsCreate(t *testing.T) {
	for _, v := range []struct {
		n          int
		dims, want []int
		bad        bool
	}{
		{6, []int{0, 0}, []int{3, 2}, false}, // the examples of the MPI standard
		{7, []int{0, 0}, []int{7, 1}, false},
		{6, []int{0, 3, 0}, []int{2, 3, 1}, false},
		{7, []int{0, 3, 0}, nil, true},
		{16, []int{0, 0, 0}, []int{4, 2, 2}, false},
		{72, []int{0, 0, 0}, []int{6, 4, 3}, false},
		{12, []int{4, 3}, []int{4, 3}, false},
		{12, []int{4, 2}, nil, true},
		{1, nil, []int{}, false},
		{2, nil, nil, true},
		{0, []int{0}, nil, true},
		{4, []int{-1, 0}, nil, true},
		{1 << 40, []int{0, 0, 0, 0}, []int{1 << 10, 1 << 10, 1 << 10, 1 << 10}, false},
		{735134400, make([]int, 10), []int{19, 17, 13, 11, 10, 9, 8, 7, 6, 5}, false}, // of 1344 divisors
	} {
		got, err := DimsCreate(v.n, v.dims)
		if v.bad != errors.Is(err, ErrGrid) {
			t.Errorf("%d, %v: %v", v.n, v.dims, err)
		}
		if v.n == 735134400 {
			product := 1
			for _, d := range got {
				product *= d
			}
			if product != v.n || got[0]-got[9] > v.want[0]-v.want[9] {
				t.Errorf("%d: %v", v.n, got)
			}
			continue
		}
		if d := cmp.Diff(append([]int{}, v.want...), append([]int{}, got...)); d != "" {
			t.Errorf("%d, %v (-want +got):\n%s", v.n, v.dims, d)
		}
	}
}
