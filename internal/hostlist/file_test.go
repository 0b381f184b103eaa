package hostlist

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var noPlace = cmpopts.IgnoreFields(Host{}, "File", "Line")

func TestParseFile(t *testing.T) {
	for text, want := range map[string][]Host{
		"h0":                                 {{Name: "h0"}},
		"h0 slots=4 max_slots=8":             {{Name: "h0", Slots: 4, Max: 8}},
		"h0\tmax-slots=8 slots=4":            {{Name: "h0", Slots: 4, Max: 8}},
		"h0 slots = 4 max_slots= 8 port =22": {{Name: "h0", Slots: 4, Max: 8, Port: 22}},
		"h0 max_slots=3":                     {{Name: "h0", Slots: 3, Max: 3}},
		"h0:2":                               {{Name: "h0", Slots: 2}},
		"h0:2 max_slots=3":                   {{Name: "h0", Slots: 2, Max: 3}},
		"user@h0.example.org:2":              {{Name: "h0.example.org", User: "user", Slots: 2}},
		`DOM\user@h0`:                        {{Name: "h0", User: `DOM\user`}},
		"a@b@h0":                             {{Name: "h0", User: "a@b"}},
		"h0 user=me port=2222":               {{Name: "h0", User: "me", Port: 2222}},
		"::1":                                {{Name: "::1"}},
		"[::1]:2":                            {{Name: "::1", Slots: 2}},
		"[fe80::1%eth0]":                     {{Name: "fe80::1%eth0"}},
		"fe80::1%eth0 slots=2":               {{Name: "fe80::1%eth0", Slots: 2}},
		"me@[2001:db8::7]:3":                 {{Name: "2001:db8::7", User: "me", Slots: 3}},
		"127.0.0.1:2":                        {{Name: "127.0.0.1", Slots: 2}},
		"\ufeffh0\r\n\r\n# x\r\n  h1 slots=2#y\r\n": {{Name: "h0"}, {Name: "h1", Slots: 2}},
		"h0\n^h1\nh1\nh2":                     {{Name: "h0"}, {Name: "h2"}},
		"h0\nu@h1\nv@h1\nh1\n^u@h1":           {{Name: "h0"}, {Name: "h1", User: "v"}, {Name: "h1"}},
		"h0 slots=2\nh1 slots=1\nH0. slots=3": {{Name: "h0", Slots: 5}, {Name: "h1", Slots: 1}},
		"h0 slots=2 max_slots=7\nh0:3":        {{Name: "h0", Slots: 5, Max: 7}},
		"h0 slots=2\nh0":                      {{Name: "h0", Slots: 3}},
		"h0 slots=2\nh0 port=22":              {{Name: "h0", Slots: 2}, {Name: "h0", Port: 22}},
		"::1\n0:0::1":                         {{Name: "::1", Slots: 2}},
		// A node file of a batch system: a mention is a slot, for all of them.
		"h0\nh0\nh1": {{Name: "h0", Slots: 2}, {Name: "h1", Slots: 1}},
	} {
		got, err := ParseFile("f", text)
		if d := cmp.Diff(want, got, noPlace); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, d)
		}
	}
}

func TestPlaces(t *testing.T) {
	hosts, err := ParseFile("dir/f", "# x\n\nh0\nh1\nh0 slots=2\n")
	if err != nil || len(hosts) != 2 || hosts[0].Where() != "dir/f:3" || hosts[1].Where() != "dir/f:4" {
		t.Errorf("%+v, %v", hosts, err)
	}
}

func TestWrongFiles(t *testing.T) {
	const keys = "slots=N, max_slots=N, port=N or user=NAME"
	for text, want := range map[string]string{
		"":                                     "f: expected at least one host, as h0 slots=4",
		"# nothing\n\n":                        "f: expected at least one host, as h0 slots=4",
		"h0\n^h0":                              "f: expected at least one host, as h0 slots=4",
		"h0\nh1 slot=2":                        `f:2:4: "slot=2": expected ` + keys,
		"h0 h1":                                `f:1:4: "h1": expected ` + keys,
		"h0, h1":                               `f:1:1: "h0,": expected a host's name or address`,
		"h0 slots=":                            `f:1:10: expected a number of slots from 1 to 65536`,
		"h0 slots=0":                           `f:1:10: "0": expected a number of slots from 1 to 65536`,
		"h0  slots=1000000000":                 `f:1:11: "1000000000": expected a number of slots from 1 to 65536`,
		"h0 slots=99999999999999999999999":     `f:1:10: "99999999999999999999999": expected a number of slots from 1 to 65536`,
		"h0 slots=-1":                          `f:1:10: "-1": expected a number of slots from 1 to 65536`,
		"h0 slots=0x2":                         `f:1:10: "0x2": expected a number of slots from 1 to 65536`,
		"h0:":                                  `f:1:4: expected a number of slots from 1 to 65536`,
		"h0:two":                               `f:1:4: "two": expected a number of slots from 1 to 65536`,
		"h0:2 slots=2":                         `f:1:6: "slots=2": expected slots once in a line`,
		"h0 slots=4 max_slots=2":               `f:1:12: "max_slots=2": expected max_slots of slots or more`,
		"h0 slots=2 max_slots=3\n\nh0 slots=2": `f:3: "h0": expected at most max_slots=3 of it in all: found 4 slots`,
		"h0 slots=65536\nh0":                   `f:2: "h0": expected at most 65536 slots of a host`,
		"h0 port=65536":                        `f:1:9: "65536": expected a port from 1 to 65535`,
		"é@h0":                                 `f:1:1: "é": expected a user's name before @`,
		"@h0":                                  `f:1:1: expected a user's name before @`,
		"u@h0 user=v":                          `f:1:6: "user=v": expected user once in a line`,
		"h0 user=-v":                           `f:1:9: "-v": expected a user's name`,
		"-oProxyCommand=x":                     `f:1:1: "-oProxyCommand=x": expected a host's name or address`,
		"h$(x)":                                `f:1:1: "h$(x)": expected a host's name or address`,
		"[::1":                                 `f:1:1: "[::1": expected an IPv6 address in brackets`,
		"[h0]:2":                               `f:1:1: "[h0]:2": expected an IPv6 address in brackets`,
		"[::1]2":                               `f:1:6: "2": expected :N after the address, or nothing`,
		"[fe80::1%$x]":                         `f:1:1: "[fe80::1%$x]": expected an IPv6 address in brackets`,
		"a:b:2":                                `f:1:1: "a:b:2": expected a host's name or address, or name:N; an IPv6 address with a number after it has brackets`,
		"^h0:2\nh1":                            `f:1:5: "2": expected no number of slots: ^ leaves a host out`,
		"^h0 slots=2\nh1":                      `f:1:5: "slots=2": expected nothing after a host that is left out`,
		strings.Repeat("x", 256):               `f:1:1: "` + strings.Repeat("x", 60) + `…": expected a host's name or address`,
	} {
		if hosts, err := ParseFile("f", text); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v\nexpected %s", text, hosts, err, want)
		}
	}
}

func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range MaxHosts {
		fmt.Fprintf(&b, "h%d\n", i)
	}
	if hosts, err := ParseFile("f", b.String()); err != nil || len(hosts) != MaxHosts {
		t.Errorf("%d hosts, %v", len(hosts), err)
	}
	if _, err := ParseFile("f", b.String()+"one more"[:3]); err == nil || err.Error() != "f:16385: expected at most 16384 hosts" {
		t.Error(err)
	}
	if _, err := ParseFile("f", strings.Repeat("#", maxText+1)); err == nil || !strings.Contains(err.Error(), "at most 4 MiB") {
		t.Error(err)
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(name, []byte("h0:2\nh1:x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(name); err == nil || !strings.HasPrefix(err.Error(), name+`:2:4: "x": `) {
		t.Error(err)
	}
	if _, err := ReadFile(name + ".no"); !os.IsNotExist(err) {
		t.Error(err)
	}
	// A device without end isn't read to its end.
	if _, err := ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "at most 4 MiB") {
		t.Error(err)
	}
}
