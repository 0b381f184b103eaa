package hostlist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseArg(t *testing.T) {
	for text, want := range map[string][]Host{
		"a,b:2,user@c": {{Name: "a"}, {Name: "b", Slots: 2}, {Name: "c", User: "user"}},
		" a , b:2 ":    {{Name: "a"}, {Name: "b", Slots: 2}},
		"[::1]:2,a":    {{Name: "::1", Slots: 2}, {Name: "a"}},
		"a,b,^a":       {{Name: "b"}},
		"^a":           nil,
		"a,a,b":        {{Name: "a", Slots: 2}, {Name: "b", Slots: 1}},
	} {
		c, err := ParseArg("--host", text)
		if d := cmp.Diff(want, c.Hosts, noPlace); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, d)
		}
	}
	for text, want := range map[string]string{
		"":         "--host:1: expected hosts with commas between them, as a,b:2,user@c",
		"a,,b":     "--host:3: expected hosts with commas between them, as a,b:2,user@c",
		"a, b:x":   `--host:6: "x": expected a number of slots from 1 to 65536`,
		"a b":      `--host:1: "a b": expected a host's name or address`,
		"a,-oX=y":  `--host:3: "-oX=y": expected a host's name or address`,
		"a:2,^a":   `--host: "a:2,^a": expected a host that isn't left out`,
		"a:*":      `--host:3: "*": expected a number of slots from 1 to 65536`,
		"é@a,b:2x": `--host:1: "é": expected a user's name before @`,
	} {
		if c, err := ParseArg("--host", text); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v\nexpected %s", text, c.Hosts, err, want)
		}
	}
}

func TestChoice(t *testing.T) {
	all, err := ParseFile("f", "h0.lab slots=4 max_slots=6\nh1:2\nu@h2:1\nh3\n10.0.0.1:3")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"h1,h0.lab": "h1 slots=2\nh0.lab slots=4 max_slots=6\n",
		"h0:2":      "h0.lab slots=2 max_slots=6\n",
		"h1.lab":    "h1 slots=2\n",
		"h2,h3:9":   "u@h2 slots=1\nh3 slots=9\n",
		"u@h2":      "u@h2 slots=1\n",
		"10.0.0.1":  "10.0.0.1 slots=3\n",
		"^h1,^h2":   "h0.lab slots=4 max_slots=6\nh3\n10.0.0.1 slots=3\n",
		"h1,h2,^h2": "h1 slots=2\n",
	} {
		c, err := ParseArg("--host", text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.From(all)
		if d := cmp.Diff(want, Format(got)); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, d)
		}
	}
	for text, want := range map[string]string{
		"h9":                            "--host: h9 isn't among the hosts of f: h0.lab, h1, h2, h3, 10.0.0.1",
		"v@h2":                          "--host: h2 isn't among",
		"h0,h0.lab":                     "--host: h0 and h0.lab are one host of f:1",
		"10":                            "--host: 10 isn't among",
		"h1:3":                          "--host: 3 slots of h1: f:2 states 2",
		"^h0.lab,^h1,^h2,^h3,^10.0.0.1": "all hosts of f:1 are left out",
	} {
		c, err := ParseArg("--host", text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.From(all); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	c, err := ParseArg("--host", "^a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.From(nil); err == nil || !strings.Contains(err.Error(), "none is given") {
		t.Error(err)
	}
}
