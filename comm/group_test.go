package comm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/eager"
)

// numbersOf is a group as its ranks in the world.
func numbersOf(g Group) []int {
	all := []int{}
	for _, p := range g.peers {
		all = append(all, p.rank)
	}
	return all
}

// testPeers is a world's worth of ranks, of which one is this process.
func testPeers(n, me int) []*peer {
	w := &World{rank: me, size: n}
	for r := range n {
		p := &peer{rank: r}
		if r != me {
			p.ep = new(eager.Endpoint)
		}
		w.peers = append(w.peers, p)
	}
	return w.peers
}

// The operations on groups do what a naive list of ranks says.
func TestGroupModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "ranks")
		me := rapid.IntRange(0, n-1).Draw(rt, "me")
		peers := testPeers(n, me)
		draw := func(name string) (Group, []int) {
			list := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(rt, name)
			g := Group{}
			for _, r := range list {
				g.peers = append(g.peers, peers[r])
			}
			return g, list
		}
		g, a := draw("g")
		h, b := draw("h")
		check := func(name string, got Group, want []int) {
			if d := cmp.Diff(append([]int{}, want...), numbersOf(got)); d != "" {
				rt.Fatalf("%s of %v and %v (-want +got):\n%s", name, a, b, d)
			}
			if r := slices.Index(want, me); got.Size() != len(want) || got.Rank() != r && !(r < 0 && got.Rank() == Undefined) {
				rt.Fatalf("%s: rank %d of %d, want %d of %d", name, got.Rank(), got.Size(), r, len(want))
			}
		}
		var union, both, only []int
		for _, r := range a {
			union = append(union, r)
			if slices.Contains(b, r) {
				both = append(both, r)
			} else {
				only = append(only, r)
			}
		}
		for _, r := range b {
			if !slices.Contains(a, r) {
				union = append(union, r)
			}
		}
		check("union", g.Union(h), union)
		check("intersection", g.Intersection(h), both)
		check("difference", g.Difference(h), only)

		want := Unequal
		switch {
		case slices.Equal(a, b):
			want = Ident
		case slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))):
			want = Similar
		}
		if got := g.Compare(h); got != want {
			rt.Fatalf("%v and %v are %v, want %v", a, b, got, want)
		}

		ranks := rapid.SliceOfN(rapid.IntRange(-1, n), 0, n).Draw(rt, "chosen")
		chosen := map[int]bool{}
		bad, twice := false, false
		var incl, excl []int
		for _, r := range ranks {
			bad = bad || r < 0 || r >= len(a)
			twice = twice || chosen[r]
			chosen[r] = true
			if !bad {
				incl = append(incl, a[r])
			}
		}
		for r, x := range a {
			if !chosen[r] {
				excl = append(excl, x)
			}
		}
		for name, f := range map[string]func(...int) (Group, error){"Incl": g.Incl, "Excl": g.Excl} {
			got, err := f(ranks...)
			if bad || twice {
				if !(bad && errors.Is(err, ErrRank) || twice && errors.Is(err, ErrGroup)) || got.Size() != 0 {
					rt.Fatalf("%s of %v, %v: %v", name, a, ranks, err)
				}
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			check(name, got, map[string][]int{"Incl": incl, "Excl": excl}[name])
		}
		there, err := g.Translate(append(ranks, ProcNull), h)
		if bad {
			if !errors.Is(err, ErrRank) {
				rt.Fatalf("Translate %v: %v", ranks, err)
			}
			return
		}
		for i, r := range ranks {
			if want := slices.Index(b, a[r]); there[i] != want && !(want < 0 && there[i] == Undefined) {
				rt.Fatalf("rank %d of %v is %d in %v", r, a, there[i], b)
			}
		}
		if there[len(ranks)] != ProcNull {
			rt.Fatal(there)
		}
	})
}

func TestGroupRanges(t *testing.T) {
	g := Group{testPeers(10, 0)}
	for _, v := range []struct {
		ranges []Range
		want   []int
		err    error
	}{
		{nil, []int{}, nil},
		{[]Range{{0, 9, 3}}, []int{0, 3, 6, 9}, nil},
		{[]Range{{0, 8, 3}, {9, 7, -1}}, []int{0, 3, 6, 9, 8, 7}, nil},
		{[]Range{{4, 4, 1}, {3, 3, -7}}, []int{4, 3}, nil},
		{[]Range{{8, 0, -3}}, []int{8, 5, 2}, nil},
		{[]Range{{1, math.MaxInt, math.MaxInt}}, []int{1}, nil},
		{[]Range{{1, 0, math.MinInt}}, []int{1}, nil},
		{[]Range{{1, math.MinInt, math.MinInt}}, nil, ErrRank},
		{[]Range{{0, 11, 5}}, nil, ErrRank},
		{[]Range{{0, 10, 4}}, []int{0, 4, 8}, nil},
		{[]Range{{-1, 3, 1}}, nil, ErrRank},
		{[]Range{{3, -1, -1}}, nil, ErrRank},
		{[]Range{{0, math.MaxInt, 1}}, nil, ErrRank},
		{[]Range{{0, 3, 0}}, nil, ErrGroup},
		{[]Range{{3, 0, 1}}, nil, ErrGroup},
		{[]Range{{0, 3, -1}}, nil, ErrGroup},
		{[]Range{{0, 3, 1}, {6, 3, -3}}, nil, ErrGroup},
	} {
		got, err := g.RangeIncl(v.ranges...)
		rest, err2 := g.RangeExcl(v.ranges...)
		if !errors.Is(err, v.err) || !errors.Is(err2, v.err) {
			t.Errorf("%v: %v; %v", v.ranges, err, err2)
		}
		if v.err != nil {
			continue
		}
		if d := cmp.Diff(v.want, numbersOf(got)); d != "" {
			t.Errorf("%v (-want +got):\n%s", v.ranges, d)
		}
		if all := rest.Union(got); all.Compare(g) > Similar || rest.Size()+len(v.want) != 10 || !slices.IsSorted(numbersOf(rest)) {
			t.Errorf("%v leaves %v", v.ranges, numbersOf(rest))
		}
	}
}
