package tcp

import (
	"net/netip"
	"slices"
)

// route is one way to a peer.
type route struct {
	to   netip.AddrPort
	from netip.Addr // the zero value: the system chooses
	near closeness
}

// closeness orders the addresses of a peer.
type closeness uint8

const (
	ownHost     closeness = iota // over loopback
	sameSubnet                   // no router between
	sameKind                     // both private, or both public
	otherKind                    // of a family that this machine has, too
	lastResort                   // of a bridge, or of an interface without carrier
	sameLink                     // link-local: perhaps the same link, perhaps another
	otherFamily                  // this machine seems to have no address of its kind
)

// routes are the ways to a peer, in the order in which they are tried. An address
// that is also one of this machine's is not the peer's, unless it is on this machine.
func (c *choice) routes(own []netip.Addr, host hostID, peer *deviceAddr) []route {
	var all []route
	here := peer.host == host
	if here && c.loopback {
		for _, ip := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
			all = append(all, route{to: netip.AddrPortFrom(ip, peer.port), near: ownHost})
		}
	}
	for _, p := range peer.at {
		ip := p.prefix.Addr()
		if !here && (ip.IsLoopback() || slices.Contains(own, ip)) || here && ip.IsLoopback() && c.loopback {
			continue
		}
		if ip.Is6() && ip.IsLinkLocalUnicast() {
			all = append(all, c.links(ip, peer.port)...)
			continue
		}
		if r := c.route(p, peer.port); r.near != otherFamily || !c.filtered {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b route) int { return int(a.near) - int(b.near) })
	return slices.CompactFunc(all, func(a, b route) bool { return a.to == b.to })
}

// route is the best way to one address.
func (c *choice) route(p place, port uint16) route {
	ip := p.prefix.Addr()
	r := route{to: netip.AddrPortFrom(ip, port), near: otherFamily}
	for _, l := range c.at {
		mine := l.prefix.Addr()
		if mine.Is4() != ip.Is4() || mine.IsLoopback() != ip.IsLoopback() {
			continue
		}
		near := otherKind
		switch {
		case l.last || p.last:
			near = lastResort
		case subnet(l.prefix, p.prefix):
			near = sameSubnet
		case mine.IsPrivate() == ip.IsPrivate():
			near = sameKind
		}
		if near < r.near {
			r.near = near
			if c.filtered {
				r.from = mine
			}
		}
	}
	return r
}

// links are the ways to a link-local address: over each interface that has one.
func (c *choice) links(ip netip.Addr, port uint16) (all []route) {
	for _, l := range c.at {
		if mine := l.prefix.Addr(); mine.Is6() && mine.IsLinkLocalUnicast() {
			all = append(all, route{to: netip.AddrPortFrom(ip.WithZone(l.name), port), near: sameLink})
		}
	}
	return all
}

// subnet says whether two addresses lie in one subnet, in the eyes of both.
func subnet(a, b netip.Prefix) bool {
	return a.Bits() > 0 && b.Bits() > 0 && a.Contains(b.Addr()) && b.Contains(a.Addr())
}

// rails are the pairs of addresses that share no interface on either side and no
// subnet, the best first: what can carry one peer's bytes side by side. Only what is
// in one subnet counts: on other ways the routing tables decide, which may lead all
// of them over one interface.
func (c *choice) rails(own []netip.Addr, host hostID, peer *deviceAddr) (all []route) {
	if peer.host == host {
		return nil
	}
	mine, theirs := map[string]bool{}, map[uint8]bool{}
	for _, p := range peer.at {
		ip := p.prefix.Addr()
		if p.last || theirs[p.nic] || ip.IsLinkLocalUnicast() || ip.IsLoopback() || slices.Contains(own, ip) {
			continue
		}
		for _, l := range c.at {
			if l.last || mine[l.name] || !subnet(l.prefix, p.prefix) {
				continue
			}
			mine[l.name], theirs[p.nic] = true, true
			all = append(all, route{to: netip.AddrPortFrom(ip, peer.port), from: l.prefix.Addr(), near: sameSubnet})
			break
		}
	}
	return all
}
