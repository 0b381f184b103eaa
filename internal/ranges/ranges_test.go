package ranges

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormat(t *testing.T) {
	for want, ids := range map[string][]int{"": nil, "3": {3}, "0-2": {0, 1, 2}, "0-1,3,5-6": {0, 1, 3, 5, 6}} {
		if got := Format(ids); got != want {
			t.Errorf("%v: %s", ids, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, ids := range [][]int{nil, {3}, {0, 1, 2}, {0, 1, 3, 5, 6}} {
		if d := cmp.Diff(ids, Parse(Format(ids)+"\n")); d != "" {
			t.Errorf("%v: %s", ids, d)
		}
	}
	if got := Parse("x,1-x,2,-5,5-2,0-999999999"); !cmp.Equal(got, []int{2}) {
		t.Error(got)
	}
}

// What is no list is left out of one; no list makes many out of little.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0-3,8,10-11\n", "", "-", "3-1", "0-65536", "0-65537", "9223372036854775807", "-9223372036854775808-1", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids := Parse(s)
		if len(ids) > (len(s)+1)*(1<<16+1) {
			t.Fatalf("%d numbers of %d bytes", len(ids), len(s))
		}
		if slices.ContainsFunc(ids, func(id int) bool { return id < 0 }) {
			t.Fatalf("%q has a number below 0", s)
		}
	})
}
