package control

import "testing"

// A place names two descriptors that are not the standard ones, and a job; it is
// written as it is read.
func FuzzParsePlace(f *testing.F) {
	for _, s := range []string{"3,4,job", "3,4,a,b", "3,3,job", "-1,4,job", "3,4,", "", "99999999999999999999,4,x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePlace(s)
		if err != nil {
			return
		}
		if p.Conn <= 2 || p.Crash <= 2 || p.Conn == p.Crash || p.Job == "" {
			t.Fatalf("%q: %+v", s, p)
		}
		if again, err := ParsePlace(p.String()); err != nil || again != p {
			t.Fatalf("%q is written as %q, read as %+v, %v", s, p, again, err)
		}
	})
}
