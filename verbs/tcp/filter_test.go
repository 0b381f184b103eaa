package tcp

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

const bigMachine = `
	lo 127.0.0.1/8 ::1/128
	eth0 10.0.0.5/24 fd00::5/64 fe80::5/64
	eth1 192.168.3.5/16
	ib0 10.9.0.5/16 !idle
	docker0 172.17.0.1/16
	wlan0 172.30.0.5/24 !down
	dummy0`

// What serves, in which order, under each filter.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name, machine, filter string
		want                  string // addresses; what is tried last has a ~
		loopback              bool
	}{
		{"all that are up, loopback and link-local ones not", bigMachine, "", "10.0.0.5 fd00::5 192.168.3.5 ~10.9.0.5 ~172.17.0.1", true},
		{"blanks only", bigMachine, "  ", "10.0.0.5 fd00::5 192.168.3.5 ~10.9.0.5 ~172.17.0.1", true},
		{"a name", bigMachine, "eth0", "10.0.0.5 fd00::5 fe80::5", false},
		{"names, in the user's order", bigMachine, "eth1, eth0", "192.168.3.5 10.0.0.5 fd00::5 fe80::5", false},
		{"a pattern", bigMachine, "eth*", "10.0.0.5 fd00::5 192.168.3.5 fe80::5", false},
		{"a prefix", bigMachine, "10.0.0.0/8", "10.0.0.5 ~10.9.0.5", false},
		{"a prefix with bits behind it", bigMachine, "10.9.1.2/16", "~10.9.0.5", false},
		{"an address", bigMachine, "192.168.3.5", "192.168.3.5", false},
		{"an IPv6 prefix", bigMachine, "fd00::/8", "fd00::5", false},
		{"without one", bigMachine, "^docker0", "10.0.0.5 fd00::5 192.168.3.5 ~10.9.0.5", true},
		{"without a pattern and a prefix", bigMachine, "^docker*,^192.168.0.0/16", "10.0.0.5 fd00::5 ~10.9.0.5", true},
		{"a name without a family", bigMachine, "eth0,^::/0", "10.0.0.5", false},
		{"the example of the documentation", bigMachine, "eth0,10.0.0.0/8,^docker0", "10.0.0.5 fd00::5 ~10.9.0.5 fe80::5", false},
		{"loopback, if named", bigMachine, "lo", "127.0.0.1 ::1", true},
		{"loopback, by its prefix", bigMachine, "127.0.0.0/8", "127.0.0.1", true},
		{"no loopback", bigMachine, "^lo", "10.0.0.5 fd00::5 192.168.3.5 ~10.9.0.5 ~172.17.0.1", false},
		{"a bridge, if named", bigMachine, "docker0", "~172.17.0.1", false},
		{"one item of two", bigMachine, "ib7,eth1", "192.168.3.5", false},
		{"nothing but loopback", "lo 127.0.0.1/8 ::1/128", "", "127.0.0.1 ::1", true},
		{"nothing but link-local", "lo 127.0.0.1/8\neth0 fe80::1/64", "", "fe80::1", true},
		{"second addresses behind first ones", "eth0 10.0.0.1/24 10.0.0.2/24 fd00::1/64\neth1 10.1.0.1/24", "", "10.0.0.1 fd00::1 10.1.0.1 10.0.0.2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := chosen(c.machine, c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for _, l := range got.at {
				w := l.prefix.Addr().String()
				if l.last {
					w = "~" + w
				}
				words = append(words, w)
			}
			if diff := cmp.Diff(c.want, strings.Join(words, " ")); diff != "" {
				t.Errorf("chosen (-want +got):\n%s", diff)
			}
			if got.loopback != c.loopback {
				t.Errorf("loopback %v, expected %v", got.loopback, c.loopback)
			}
		})
	}
}

// Errors name the item, and what there is.
func TestChooseErrors(t *testing.T) {
	for _, c := range []struct {
		name, machine, filter string
		want                  []string
		invalid               bool // it is the user's fault
	}{
		{"nothing is called so", bigMachine, "ib3", []string{`matches "ib3"`, "eth0 10.0.0.5/24 fd00::5/64", "wlan0 172.30.0.5/24 (down)", "dummy0 (no address)"}, true},
		{"of two, nothing", bigMachine, "ib3,192.0.2.0/24", []string{`"ib3" or "192.0.2.0/24"`}, true},
		{"it is down", bigMachine, "wlan0", []string{`matches "wlan0"`, "wlan0 172.30.0.5/24 (down)"}, true},
		{"all left out", bigMachine, "^0.0.0.0/0,^::/0", []string{`"^0.0.0.0/0,^::/0" leaves nothing`, "there are: lo"}, true},
		{"named and left out", bigMachine, "eth1,^192.168.0.0/16", []string{"leaves nothing"}, true},
		{"no interface", "", "", []string{"no interface", "none at all"}, false},
		{"all down", "eth0 10.0.0.1/8 !down", "", []string{"is up", "eth0 10.0.0.1/8 (down)"}, false},
		{"an empty item", bigMachine, "eth0,,eth1", []string{`item 2, ""`, "nothing is there"}, true},
		{"a lonely ^", bigMachine, "eth0,^", []string{`item 2, "^"`}, true},
		{"a prefix that is none", bigMachine, "10.0.0.0/33", []string{`item 1, "10.0.0.0/33"`, "not a prefix"}, true},
		{"a host with a prefix", bigMachine, "eth0/8", []string{`"eth0/8"`, "not a prefix"}, true},
		{"two signs", bigMachine, "^^eth0", []string{`"^^eth0"`}, true},
		{"a pattern that is none", bigMachine, "eth[0", []string{`"eth[0"`, "pattern"}, true},
		{"blanks for commas", bigMachine, "eth0 eth1", []string{`"eth0 eth1"`, "not a name"}, true},
		{"IPv4 in IPv6", bigMachine, "::ffff:10.0.0.0/104", []string{"IPv4 prefix"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := chosen(c.machine, c.filter)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q", err, w)
				}
			}
			if errors.Is(err, verbs.ErrInvalid) != c.invalid {
				t.Errorf("error %q is ErrInvalid: %v", err, !c.invalid)
			}
		})
	}
}

// Whatever a user writes: an error, or a filter whose items all mean something.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{"", "eth0,10.0.0.0/8,^docker0", "^^", ",", "a[", "::1/0", "fe80::1%eth0", "^0.0.0.0/0", "a,b,c,^d*"} {
		f.Add(s)
	}
	nics := machine(bigMachine)
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := parseFilter(s)
		if err != nil {
			if !errors.Is(err, verbs.ErrInvalid) {
				t.Errorf("error %v", err)
			}
			return
		}
		for _, it := range append(parsed.only, parsed.not...) {
			if _, err := path.Match(it.glob, "eth0"); err != nil || (it.glob == "") != it.prefix.IsValid() {
				t.Errorf("item %+v of %q", it, s)
			}
		}
		c, err := choose(nics, s)
		if err == nil && len(c.at) == 0 {
			t.Errorf("%q chooses nothing, and no error says so", s)
		}
		for _, l := range c.at {
			if strings.HasPrefix(l.name, "wlan") {
				t.Errorf("%q chooses %v, which is down", s, l)
			}
		}
	})
}
