package tcp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The order in which a peer's addresses are tried, for pairs of machines.
func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		name         string
		mine, theirs string // machines
		filter       string // mine
		here         bool   // both on one host
		want         string
		rails        string // the pairs that can serve side by side; "" where there is one way at most
	}{
		{
			name:   "one subnet",
			mine:   "lo 127.0.0.1/8 ::1/128\neth0 10.0.0.1/24",
			theirs: "lo 127.0.0.1/8 ::1/128\neth0 10.0.0.2/24",
			want:   "10.0.0.2:7",
			rails:  "10.0.0.1>10.0.0.2:7",
		},
		{
			name:   "the same subnet before what is listed first",
			mine:   "lo 127.0.0.1/8\neth0 192.168.1.1/24\nib0 10.1.0.1/16",
			theirs: "lo 127.0.0.1/8\neth0 192.168.9.2/24\nib0 10.1.7.2/16",
			want:   "10.1.7.2:7 192.168.9.2:7",
			rails:  "10.1.0.1>10.1.7.2:7",
		},
		{
			name:   "private to private before private to public",
			mine:   "eth0 10.0.0.1/24",
			theirs: "eth0 198.51.100.2/24\neth1 172.20.0.2/16",
			want:   "172.20.0.2:7 198.51.100.2:7",
		},
		{
			name:   "bridges of containers last, though they seem to be in one subnet, and not one's own address",
			mine:   "eth0 10.0.0.1/24\ndocker0 172.17.0.1/16\nvirbr0 192.168.122.1/24",
			theirs: "docker0 172.17.0.1/16\nbr-12ab 172.18.0.1/16\neth0 10.9.0.2/24\nvirbr0 192.168.122.77/24",
			want:   "10.9.0.2:7 172.18.0.1:7 192.168.122.77:7",
		},
		{
			name:   "no carrier: last",
			mine:   "eth0 10.0.0.1/24\neth1 10.1.0.1/24",
			theirs: "eth0 10.0.0.2/24 !idle\neth1 10.1.0.2/24",
			want:   "10.1.0.2:7 10.0.0.2:7",
			rails:  "10.1.0.1>10.1.0.2:7",
		},
		{
			name:   "a host with a copy of my address, which isn't the peer's to me",
			mine:   "eth0 10.0.0.1/24",
			theirs: "eth0 10.0.0.1/24\neth1 10.5.0.2/24",
			want:   "10.5.0.2:7",
		},
		{
			name:   "both families, and rails over distinct interfaces only",
			mine:   "eth0 10.0.0.1/24 fd00::1/64\neth1 10.1.0.1/24 fd01::1/64",
			theirs: "eth0 10.0.0.2/24 fd00::2/64\neth1 10.1.0.2/24 fd01::2/64",
			want:   "10.0.0.2:7 [fd00::2]:7 10.1.0.2:7 [fd01::2]:7",
			rails:  "10.0.0.1>10.0.0.2:7 10.1.0.1>10.1.0.2:7",
		},
		{
			name:   "two interfaces here, one there",
			mine:   "eth0 10.0.0.1/16\neth1 10.0.1.1/16",
			theirs: "eth0 10.0.0.2/16",
			want:   "10.0.0.2:7",
			rails:  "10.0.0.1>10.0.0.2:7",
		},
		{
			name:   "a family that I lack comes last",
			mine:   "eth0 10.0.0.1/24",
			theirs: "eth0 fd00::2/64 10.3.0.2/24",
			want:   "10.3.0.2:7 [fd00::2]:7",
		},
		{
			name:   "with a filter it doesn't come at all, and connections leave from what is allowed",
			mine:   "eth0 10.0.0.1/24 fd00::1/64\neth1 10.1.0.1/24",
			theirs: "eth0 fd00::2/64 10.0.0.2/24\neth1 10.1.0.2/24",
			filter: "10.1.0.0/16",
			want:   "10.1.0.1>10.1.0.2:7 10.1.0.1>10.0.0.2:7",
			rails:  "10.1.0.1>10.1.0.2:7",
		},
		{
			name:   "one host: loopback",
			mine:   "lo 127.0.0.1/8 ::1/128\neth0 10.0.0.1/24",
			theirs: "lo 127.0.0.1/8 ::1/128\neth0 10.0.0.1/24",
			here:   true,
			want:   "127.0.0.1:7 [::1]:7 10.0.0.1:7",
		},
		{
			name:   "one host that has nothing else",
			mine:   "lo 127.0.0.1/8 ::1/128",
			theirs: "lo 127.0.0.1/8 ::1/128",
			here:   true,
			want:   "127.0.0.1:7 [::1]:7",
		},
		{
			name:   "one host without loopback",
			mine:   "lo 127.0.0.1/8\neth0 10.0.0.1/24",
			theirs: "lo 127.0.0.1/8\neth0 10.0.0.1/24",
			filter: "eth0",
			here:   true,
			want:   "10.0.0.1>10.0.0.1:7",
		},
		{
			name:   "another host that has loopback only",
			mine:   "lo 127.0.0.1/8\neth0 10.0.0.1/24",
			theirs: "lo 127.0.0.1/8 ::1/128",
			want:   "",
		},
		{
			name:   "links: all of mine",
			mine:   "eth0 fe80::1/64\neth1 fe80::2/64",
			theirs: "eth0 fe80::9/64",
			want:   "[fe80::9%eth0]:7 [fe80::9%eth1]:7",
		},
		{
			name:   "point to point: no subnet",
			mine:   "eth0 10.0.0.1/32\neth1 10.7.0.1/24",
			theirs: "eth0 10.0.0.2/32\neth1 10.7.0.2/24",
			want:   "10.7.0.2:7 10.0.0.2:7",
			rails:  "10.7.0.1>10.7.0.2:7",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			mine, _, err := chosen(c.mine, c.filter)
			if err != nil {
				t.Fatal(err)
			}
			_, peer, err := chosen(c.theirs, "")
			if err != nil {
				t.Fatal(err)
			}
			host := hostID{0: 99}
			if c.here {
				host = peer.host
			}
			if diff := cmp.Diff(c.want, routesText(mine.routes(ownOf(c.mine), host, &peer))); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.rails, routesText(mine.rails(ownOf(c.mine), host, &peer))); diff != "" {
				t.Errorf("rails (-want +got):\n%s", diff)
			}
		})
	}
}

func routesText(all []route) string {
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = r.to.String()
		if r.from.IsValid() {
			words[i] = r.from.String() + ">" + words[i]
		}
	}
	return strings.Join(words, " ")
}
