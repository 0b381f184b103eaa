package tcp

import (
	"fmt"
	"net"
	"net/netip"
	"path"
	"strings"
)

// nic is a network interface.
type nic struct {
	name     string
	up       bool
	running  bool           // there is a carrier
	loopback bool           //
	at       []netip.Prefix // its addresses, each with the length of its subnet's prefix
}

// bridges are names of interfaces that join containers and virtual machines of one
// host. Many hosts have the same addresses there (172.17.0.1 is docker0's on each),
// and what lies behind them isn't other hosts.
var bridges = []string{"docker*", "br-*", "virbr*", "vmnet*", "vboxnet*", "veth*", "cni*", "cali*", "flannel*", "lxcbr*", "lxdbr*", "podman*"}

// last says that the interface's addresses are to be tried when nothing else is left.
func (n *nic) last() bool {
	for _, pattern := range bridges {
		if ok, _ := path.Match(pattern, n.name); ok {
			return true
		}
	}
	return !n.running
}

func (n *nic) String() string {
	var b strings.Builder
	b.WriteString(n.name)
	for _, p := range n.at {
		b.WriteByte(' ')
		b.WriteString(p.String())
	}
	switch {
	case !n.up:
		b.WriteString(" (down)")
	case len(n.at) == 0:
		b.WriteString(" (no address)")
	}
	return b.String()
}

// systemNICs lists the interfaces of this machine.
func systemNICs() ([]nic, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("tcp: the interfaces of this machine: %w", err)
	}
	var all []nic
	for i := range list {
		addrs, err := list[i].Addrs()
		if err != nil {
			continue // it has gone
		}
		n := nic{
			name:     list[i].Name,
			up:       list[i].Flags&net.FlagUp != 0,
			running:  list[i].Flags&net.FlagRunning != 0,
			loopback: list[i].Flags&net.FlagLoopback != 0,
		}
		for _, a := range addrs {
			if p, ok := prefixOf(a); ok {
				n.at = append(n.at, p)
			}
		}
		all = append(all, n)
	}
	return all, nil
}

func prefixOf(a net.Addr) (netip.Prefix, bool) {
	n, ok := a.(*net.IPNet)
	if !ok {
		return netip.Prefix{}, false
	}
	ip, ok := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	if ip = ip.Unmap(); ok && len(n.Mask) == 16 && ip.Is4() {
		bits -= 96
	}
	p := netip.PrefixFrom(ip, bits)
	return p, ok && p.IsValid()
}
