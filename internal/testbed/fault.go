package testbed

import (
	"fmt"
	"strings"
)

// faults is what is wrong at present.
type faults struct {
	loss   map[int]int     // percent, by host
	resets map[[2]int]bool // pairs of hosts
	walls  map[[2]int]bool
}

// Cut pulls all cables of a host: nothing leaves or reaches it, and nobody is
// told.
func (b *Bed) Cut(host int) {
	b.t.Helper()
	b.plug(host, "down")
}

// Heal ends all faults of a host: its cables are in again, nothing is lost or
// reset, and no partition keeps it from another.
func (b *Bed) Heal(host int) {
	b.t.Helper()
	b.plug(host, "up")
	filtered := b.faults.loss[host] != 0
	delete(b.faults.loss, host)
	for p := range b.faults.walls {
		if p[0] == host || p[1] == host {
			delete(b.faults.walls, p)
			filtered = true
		}
	}
	if filtered {
		b.filter()
	}
	for p := range b.faults.resets {
		if p[0] == host || p[1] == host {
			delete(b.faults.resets, p)
			b.resets(p[0])
			b.resets(p[1])
		}
	}
}

// Loss drops percent (below 100: see Cut) of all packets that a host sends or
// gets, at random.
func (b *Bed) Loss(host, percent int) {
	b.t.Helper()
	put(&b.faults.loss, host, percent)
	b.filter()
}

// Reset answers each TCP segment between two hosts with a reset, until one of
// them is healed. A connection on which nothing is sent hears nothing.
func (b *Bed) Reset(a, c int) {
	b.t.Helper()
	put(&b.faults.resets, pair(a, c), true)
	b.resets(a)
	b.resets(c)
}

// Partition drops all that two hosts send to each other.
func (b *Bed) Partition(a, c int) {
	b.t.Helper()
	put(&b.faults.walls, pair(a, c), true)
	b.filter()
}

// Kill ends a host: its processes die at once, and the ends of its connections
// hear of it. A host whose power fails is cut before.
func (b *Bed) Kill(host int) { b.t.Helper(); b.hosts[host].kill() }

// plug sets all ports of a host.
func (b *Bed) plug(host int, state string) {
	b.t.Helper()
	var s strings.Builder
	for rail := range b.rails {
		fmt.Fprintf(&s, "link set %s %s\n", port(host, rail), state)
	}
	b.do(b.sw, batch(s.String()))
}

// filter makes the switch's rules those of the faults there are. The switch is
// in the middle of everything, and lives when hosts don't.
func (b *Bed) filter() {
	b.t.Helper()
	Need(b.t, "nft")
	var s strings.Builder
	s.WriteString("table bridge faults {}\ndelete table bridge faults\n")
	s.WriteString("table bridge faults {\nchain forward {\ntype filter hook forward priority 0;\n")
	for p := range b.faults.walls {
		for rail := range b.rails {
			fmt.Fprintf(&s, "iifname %s oifname %s drop\n", port(p[0], rail), port(p[1], rail))
			fmt.Fprintf(&s, "iifname %s oifname %s drop\n", port(p[1], rail), port(p[0], rail))
		}
	}
	for host, percent := range b.faults.loss {
		for rail := range b.rails {
			for _, way := range []string{"iifname", "oifname"} {
				fmt.Fprintf(&s, "%s %s numgen random mod 100 < %d drop\n", way, port(host, rail), percent)
			}
		}
	}
	s.WriteString("}\n}\n")
	b.do(b.sw, "nft -f - <<'END'\n"+s.String()+"END")
}

// resets makes a host's own rules those of the resets there are: the sender of a
// segment is answered as if by its receiver, which a bridge can't do everywhere.
func (b *Bed) resets(host int) {
	b.t.Helper()
	Need(b.t, "nft")
	var s strings.Builder
	s.WriteString("table inet faults {}\ndelete table inet faults\n")
	s.WriteString("table inet faults {\nchain output {\ntype filter hook output priority 0;\n")
	for p := range b.faults.resets {
		if p[0] != host && p[1] != host {
			continue
		}
		peer := p[0] + p[1] - host
		for rail := range b.rails {
			fmt.Fprintf(&s, "meta l4proto tcp ip daddr %v reject with tcp reset\n", b.RailAddr(peer, rail))
			fmt.Fprintf(&s, "meta l4proto tcp ip6 daddr %v reject with tcp reset\n", b.RailAddr6(peer, rail))
		}
	}
	s.WriteString("}\n}\n")
	b.do(b.hosts[host], "nft -f - <<'END'\n"+s.String()+"END")
}

// put sets an entry of a map that may not be there yet.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func pair(a, c int) [2]int { return [2]int{min(a, c), max(a, c)} }
