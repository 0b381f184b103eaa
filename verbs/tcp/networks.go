package tcp

import "net/netip"

// Network is an address of this machine, and the interface that has it.
type Network struct {
	Name string
	Addr netip.Prefix
	Last bool // it is tried when nothing else is left: a bridge of containers, or no carrier
}

// Networks lists the addresses of this machine that a device with this Config.Net would
// publish, the best first.
func Networks(net string) ([]Network, error) {
	nics, err := systemNICs()
	if err != nil {
		return nil, err
	}
	c, err := choose(nics, net)
	if err != nil {
		return nil, err
	}
	all := make([]Network, len(c.at))
	for i, l := range c.at {
		all[i] = Network{l.name, l.prefix, l.last}
	}
	return all, nil
}
