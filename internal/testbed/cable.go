package testbed

import (
	"fmt"
	"strings"
)

// port is the switch's end of a host's cable, bridge what it is plugged into.
func port(host, rail int) string { return fmt.Sprintf("%c%d", 'p'+rune(rail), host) }
func bridge(rail int) string     { return fmt.Sprintf("br%d", rail) }
func card(rail int) string       { return fmt.Sprintf("eth%d", rail) }

// cable joins all hosts to the switch, and waits until all addresses work: IPv6
// takes its time to find out that a card is up.
func (b *Bed) cable() {
	b.t.Helper()
	var sw strings.Builder
	for rail := range b.rails {
		fmt.Fprintf(&sw, "link add %s type bridge\nlink set %[1]s up\n", bridge(rail))
		for i, h := range b.hosts {
			fmt.Fprintf(&sw, "link add %s type veth peer name %s netns %d\n", port(i, rail), card(rail), h.cmd.Process.Pid)
			fmt.Fprintf(&sw, "link set %s master %s up\n", port(i, rail), bridge(rail))
		}
	}
	b.do(b.sw, batch(sw.String()))
	for i, h := range b.hosts {
		var ip, ready strings.Builder
		for rail := range b.rails {
			fmt.Fprintf(&ip, "addr add %v/24 dev %s\n", b.RailAddr(i, rail), card(rail))
			fmt.Fprintf(&ip, "addr add %v/64 dev %s nodad\n", b.RailAddr6(i, rail), card(rail))
			fmt.Fprintf(&ip, "link set %s up\n", card(rail))
			fmt.Fprintf(&ready, "\nuntil ip -6 route get %v | grep -q ^local; do sleep 0.01; done", b.RailAddr6(i, rail))
		}
		b.do(h, batch(ip.String())+ready.String())
	}
}

// batch is a script that has ip do all these lines.
func batch(lines string) string { return "ip -batch - <<'END'\n" + lines + "END" }
