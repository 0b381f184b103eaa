package launcher

import (
	"slices"
	"testing"

	"github.com/verbena-mpi/verbena/internal/control"
)

func TestFindCycle(t *testing.T) {
	const alone = -3 // an operation that nobody waits for
	for _, c := range []struct {
		waits map[int][]int // for whom; negative: control.Any, or alone
		want  []int
	}{
		{map[int][]int{0: {1}, 1: {2}, 2: {0}}, []int{0, 1, 2}},
		{map[int][]int{0: {2}, 1: {0}, 2: {1}}, []int{0, 2, 1}},
		{map[int][]int{0: {3}, 1: {3}, 2: {3}, 3: {2}}, []int{2, 3}},
		{map[int][]int{0: {0}}, []int{0}},
		{map[int][]int{0: {control.Any}, 1: {0}, 2: {0}}, nil},
		{map[int][]int{0: {control.Any, 1}, 1: {7, 0}}, []int{0, 1}}, // 7 has ended
		{map[int][]int{0: {1}, 1: {alone}}, nil},
		{map[int][]int{0: {1, 2}, 1: {}, 2: {3}, 3: {1, 0}}, []int{0, 2, 3}},
		{nil, nil},
	} {
		answers := map[int]*answer{}
		for id, peers := range c.waits {
			a := &answer{}
			for _, p := range peers {
				o := control.Op{Call: "Recv", Peer: p, Place: "x.go:1"}
				if p == alone {
					o.Peer, o.Place = 0, ""
				}
				a.ops = append(a.ops, o)
			}
			answers[id] = a
		}
		if got := findCycle(answers); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, expected %v", c.waits, got, c.want)
		}
	}
}
