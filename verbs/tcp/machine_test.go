package tcp

import (
	"net/netip"
	"strings"
)

// machine reads interfaces from lines as "eth0 10.0.0.2/24 fd00::2/64", with "!down" and
// "!idle" for what is down and what has no carrier.
func machine(text string) (all []nic) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n := nic{name: words[0], up: true, running: true, loopback: words[0] == "lo"}
		for _, w := range words[1:] {
			switch w {
			case "!down":
				n.up, n.running = false, false
			case "!idle":
				n.running = false
			default:
				n.at = append(n.at, netip.MustParsePrefix(w))
			}
		}
		all = append(all, n)
	}
	return all
}

// chosen is what a machine publishes under a filter.
func chosen(text, filter string) (choice, deviceAddr, error) {
	c, err := choose(machine(text), filter)
	a := deviceAddr{port: 7, host: hostID{byte(len(text)), 1}}
	for _, l := range c.at {
		a.at = append(a.at, l.place)
	}
	return c, a, err
}

// ownOf are all addresses of a machine.
func ownOf(text string) (all []netip.Addr) {
	for _, n := range machine(text) {
		for _, p := range n.at {
			all = append(all, p.Addr())
		}
	}
	return all
}
