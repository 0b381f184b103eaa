package hostlist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What String writes is read as the same host.
func TestStringParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.SliceOfNDistinct(rapid.Custom(drawHost), 1, 8, Host.key).Draw(t, "hosts")
		got, err := ParseFile("f", Format(hosts))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(hosts, got, noPlace); d != "" {
			t.Fatalf("%s\n%s", Format(hosts), d)
		}
	})
}

func drawHost(t *rapid.T) Host {
	h := Host{
		Name: rapid.OneOf(
			rapid.StringMatching(`[a-z0-9_][a-zA-Z0-9._-]{0,20}`),
			rapid.SampledFrom([]string{"::1", "fe80::2%eth0", "10.0.0.1", "2001:db8::1"}),
		).Draw(t, "name"),
		User:  rapid.StringMatching(`([a-z_][a-z0-9_.@+\\-]{0,8})?`).Draw(t, "user"),
		Port:  rapid.IntRange(0, 65535).Draw(t, "port"),
		Slots: rapid.IntRange(0, 100).Draw(t, "slots"),
	}
	if h.Slots > 0 && rapid.Bool().Draw(t, "bounded") {
		h.Max = h.Slots + rapid.IntRange(0, 100).Draw(t, "more")
	}
	return h
}

// checkHosts is what holds for all that is read.
func checkHosts(t *testing.T, hosts []Host) {
	t.Helper()
	if len(hosts) > MaxHosts {
		t.Fatalf("%d hosts", len(hosts))
	}
	for _, h := range hosts {
		if err := h.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	if len(hosts) == 0 {
		return
	}
	again, err := ParseFile("f", Format(hosts))
	if err != nil {
		t.Fatalf("%v:\n%s", err, Format(hosts))
	}
	if d := cmp.Diff(hosts, again, noPlace); d != "" {
		t.Fatalf("%s\n%s", Format(hosts), d)
	}
}

func FuzzParseFile(f *testing.F) {
	for _, s := range []string{"h0 slots=2 max_slots=3\nu@[::1]:2 # x\r\n^h3\n", "h\nh\ng port = 22 user=x", "\ufeffa:2", "::1%e\n0::1%e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := ParseFile("f", text)
		if err == nil {
			checkHosts(t, hosts)
		} else if !strings.HasPrefix(err.Error(), "f:") {
			t.Fatal(err)
		}
	})
}

func FuzzParseArg(f *testing.F) {
	for _, s := range []string{"a,b:2,user@c,^d", "[::1]:2, a", "a,a,^b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseArg("--host", text)
		if err != nil {
			return
		}
		checkHosts(t, c.Hosts)
		if all, err := c.From([]Host{{Name: "a", Slots: 3}, {Name: "b"}}); err == nil {
			checkHosts(t, all)
		}
	})
}

func FuzzParseNodes(f *testing.F) {
	for _, s := range []string{"h[0-3,7],g01", "r[1-2]n[00-11]x", "h[0-99999999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := ParseNodes("V", text)
		if err != nil {
			return
		}
		if len(names) == 0 || len(names) > MaxHosts {
			t.Fatalf("%d names", len(names))
		}
		for _, n := range names {
			if !goodName(n) {
				t.Fatalf("%q", n)
			}
		}
		again, err := ParseNodes("V", strings.Join(names, ","))
		if err != nil && len(names)*maxName < maxText {
			t.Fatal(err)
		}
		if d := cmp.Diff(names, again); err == nil && d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzParseCounts(f *testing.F) {
	for _, s := range []string{"2(x3),1", "9", "1(x99999)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		counts, err := ParseCounts("V", text)
		if err == nil && (len(counts) == 0 || len(counts) > MaxHosts) {
			t.Fatalf("%d numbers", len(counts))
		}
		for _, n := range counts {
			if n < 1 || n > MaxSlots {
				t.Fatal(n)
			}
		}
	})
}
