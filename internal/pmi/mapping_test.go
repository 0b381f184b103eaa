package pmi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// unmap reads a mapping as MPICH does.
func unmap(t rapid.TB, s string, size int) []int {
	t.Helper()
	var blocks []block
	for f := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(s, "(vector,("), "))"), "),(") {
		var b block
		if n, err := fmt.Sscanf(f, "%d,%d,%d", &b.start, &b.nodes, &b.procs); n != 3 || err != nil {
			t.Fatalf("%s: %q: %v", s, f, err)
		}
		blocks = append(blocks, b)
	}
	var hosts []int
	for len(hosts) < size {
		for _, b := range blocks {
			for n := range b.nodes {
				hosts = append(hosts, slices.Repeat([]int{b.start + n}, b.procs)...)
			}
		}
	}
	return hosts[:size]
}

func TestMapping(t *testing.T) {
	for _, c := range []struct {
		hosts []int
		want  string
	}{
		{[]int{0, 0, 0, 0}, "(vector,(0,1,4))"},
		{[]int{0, 0, 1, 1, 2, 2}, "(vector,(0,3,2))"},
		{[]int{0, 1, 2, 0, 1, 2}, "(vector,(0,3,1))"},
		{[]int{0, 1, 2, 0, 1}, "(vector,(0,3,1),(0,2,1))"},
		{[]int{0, 0, 0, 1, 2, 2}, "(vector,(0,1,3),(1,1,1),(2,1,2))"},
		{[]int{2, 0, 1}, "(vector,(2,1,1),(0,2,1))"},
	} {
		if got := mapping(c.hosts); got != c.want {
			t.Errorf("%v: %s, expected %s", c.hosts, got, c.want)
		}
	}
	long := make([]int, 1000)
	for i := range long {
		long[i] = i * i % 7 % (i%3 + 1)
	}
	if got := mapping(long); got != "" {
		t.Errorf("%d bytes, more than a value can hold: %s", len(got), got)
	}
}

func TestMappingIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 60).Draw(t, "hosts")
		if d := cmp.Diff(hosts, unmap(t, mapping(hosts), len(hosts))); d != "" {
			t.Fatalf("%s: (-want +got)\n%s", mapping(hosts), d)
		}
	})
}
