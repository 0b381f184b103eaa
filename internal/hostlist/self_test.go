package hostlist

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func addrs(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, s := range texts {
		list = append(list, netip.MustParseAddr(s))
	}
	return list
}

func TestMark(t *testing.T) {
	short := Self{
		Names: []string{"h0"}, Addrs: addrs("10.0.0.1", "fe80::1", "2001:db8::1"), User: "me",
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			switch name {
			case "alias", "h0.lab":
				return addrs("192.168.9.9", "10.0.0.1"), nil
			case "h1", "h0.elsewhere":
				return addrs("10.0.0.2"), nil
			}
			return nil, errors.New("no such host")
		},
	}
	long := Self{Names: []string{"h0.lab"}}
	for _, c := range []struct {
		self  Self
		name  string
		local bool
	}{
		{short, "h0", true},
		{short, "H0.", true},
		{short, "h0.lab", true},
		{short, "h0.elsewhere", false},
		{short, "h0.unknown", true}, // the best guess
		{short, "alias", true},
		{short, "h1", false},
		{short, "unknown", false},
		{short, "localhost", true},
		{short, "127.0.0.2", true},
		{short, "::1", true},
		{short, "10.0.0.1", true},
		{short, "::ffff:10.0.0.1", true},
		{short, "10.0.0.2", false},
		{short, "fe80::1%eth0", true},
		{short, "me@h0", true},
		{short, "you@h0", false},
		{short, "h0 port=22", false},
		{long, "h0", true},
		{long, "h0.lab", true},
		{long, "h0.lab.org", false},
		{long, "h", false},
		{Self{}, "h0", false}, // a host without a name
	} {
		hosts, err := ParseFile("f", c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.self.Mark(t.Context(), hosts); got[0].Local != c.local {
			t.Errorf("%v: %s: %v", c.self.Names, c.name, got[0].Local)
		}
	}
}

// What is this host by several names is one host.
func TestMarkMerges(t *testing.T) {
	for text, want := range map[string]string{
		"h1:1\nh0:2\nlocalhost:3":                       "h1 slots=1\nh0 slots=5\n",
		"h0 slots=2 max_slots=3\n127.0.0.1 max_slots=2": "h0 slots=4 max_slots=5\n",
		"h0 slots=2 max_slots=3\n127.0.0.1:2":           "h0 slots=4\n",
		"h0:2\n127.0.0.1":                               "h0\n",
		"h0\n127.0.0.1:2":                               "h0\n",
		"h0:2\n127.0.0.1 port=22 slots=2":               "h0 slots=2\n127.0.0.1 slots=2 port=22\n",
	} {
		hosts, err := ParseFile("f", text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, Format(Self{Names: []string{"h0"}}.Mark(t.Context(), hosts))); d != "" {
			t.Errorf("%q:\n%s", text, d)
		}
	}
}

// A name server that doesn't answer stops nothing.
func TestMarkIsPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		self := Self{Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		hosts := make([]Host, 3*lookups)
		for i := range hosts {
			hosts[i].Name = "h" + string(rune('a'+i%26))
		}
		start := time.Now()
		if got := self.Mark(t.Context(), hosts); len(got) != len(hosts) || got[0].Local || time.Since(start) > lookupTime {
			t.Errorf("%d hosts after %v", len(got), time.Since(start))
		}
	})
}

// This host knows itself.
func TestThisHost(t *testing.T) {
	got := ThisHost().Mark(t.Context(), []Host{{Name: "localhost"}, {Name: "192.0.2.1"}})
	if !got[0].Local || got[1].Local {
		t.Errorf("%+v", got)
	}
	node := SlurmHost(func(string) string { return "n1" })
	if got := node.Mark(t.Context(), []Host{{Name: "n0"}, {Name: "n1"}, {Name: "unresolvable"}}); got[0].Local || !got[1].Local || got[2].Local {
		t.Errorf("%+v", got)
	}
	if none := SlurmHost(func(string) string { return "" }); none.Lookup != nil || none.Addrs != nil {
		t.Errorf("%+v", none)
	}
}
