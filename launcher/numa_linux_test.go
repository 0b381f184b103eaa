package launcher

import (
	"slices"
	"testing"
)

// What is no list of cores is left out of one; no list makes many out of little.
func FuzzParseRanges(f *testing.F) {
	for _, s := range []string{"0-3,8,10-11\n", "", "-", "3-1", "0-65536", "0-65537", "9223372036854775807", "-9223372036854775808-1", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids := parseRanges(s)
		if len(ids) > (len(s)+1)*(1<<16+1) {
			t.Fatalf("%d cores of %d bytes", len(ids), len(s))
		}
		if slices.ContainsFunc(ids, func(id int) bool { return id < 0 }) {
			t.Fatalf("%q has a core below 0", s)
		}
	})
}
