package tcp

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/verbena-mpi/verbena/verbs"
)

// choice is what of this machine serves, the best first.
type choice struct {
	at       []local
	filtered bool // by the user: nothing else may serve
	loopback bool // may serve between devices of one host
	idle     []string
}

// local is an address of this machine.
type local struct {
	place
	name string // of its interface
}

// choose applies what the user says. By default loopback, and IPv6's link-local
// addresses, which mean nothing without saying on which link, serve only where there
// is nothing else.
func choose(nics []nic, text string) (choice, error) {
	f, err := parseFilter(text)
	if err != nil {
		return choice{}, err
	}
	c := choice{filtered: len(f.only) > 0 || len(f.not) > 0}
	type ranked struct {
		local
		rank, class int
	}
	var all []ranked
	for i := range nics {
		n := &nics[i]
		if !n.up {
			continue
		}
		for _, p := range n.at {
			ip := p.Addr()
			rank, ok := f.rank(n, ip)
			if !ok || ip.IsUnspecified() || ip.IsMulticast() {
				continue
			}
			r := ranked{local{place{prefix: p, nic: uint8(min(i, 255)), last: n.last()}, n.name}, rank, 0}
			switch {
			case n.loopback || ip.IsLoopback():
				r.class = 2
				c.loopback = c.loopback || ip.IsLoopback()
			case ip.IsLinkLocalUnicast():
				r.class = 1
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return c, nothing(nics, f, text)
	}
	if len(f.only) == 0 {
		best := slices.MinFunc(all, func(a, b ranked) int { return a.class - b.class }).class
		all = slices.DeleteFunc(all, func(r ranked) bool { return r.class != best })
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(a.rank-b.rank, number(a.last)-number(b.last), a.class-b.class)
	})
	for i := range all {
		c.at = append(c.at, all[i].local)
	}
	c.at = spread(c.at)
	c.idle = unmatched(nics, f)
	return c, nil
}

// spread puts a second address that an interface has in one family behind the first
// ones of all: a published address has room for a few.
func spread(at []local) []local {
	type kind struct {
		name string
		six  bool
	}
	seen := map[kind]int{}
	turn := make(map[netip.Addr]int, len(at))
	for _, l := range at {
		k := kind{l.name, l.prefix.Addr().Is6()}
		turn[l.prefix.Addr()] = seen[k]
		seen[k]++
	}
	slices.SortStableFunc(at, func(a, b local) int { return turn[a.prefix.Addr()] - turn[b.prefix.Addr()] })
	return at
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nothing is the error when no address of this machine may serve.
func nothing(nics []nic, f filter, text string) error {
	there := make([]string, len(nics))
	for i := range nics {
		there[i] = nics[i].String()
	}
	list := strings.Join(there, ", ")
	if list == "" {
		list = "none at all"
	}
	switch idle := unmatched(nics, f); {
	case len(f.only) == 0 && len(f.not) == 0:
		return fmt.Errorf("tcp: no interface of this machine is up and has an address; there are: %s", list)
	case len(idle) > 0 && len(idle) == len(f.only):
		return fmt.Errorf("%w: tcp: no interface or address here matches %s; there are: %s", verbs.ErrInvalid, strings.Join(idle, " or "), list)
	}
	return fmt.Errorf("%w: tcp: the network %q leaves nothing of this machine that is up; there are: %s", verbs.ErrInvalid, text, list)
}

// unmatched are the items that name nothing that is up here. One machine may have
// what another lacks: it is an error only if it goes for all.
func unmatched(nics []nic, f filter) (list []string) {
	for i := range f.only {
		it := &f.only[i]
		if !slices.ContainsFunc(nics, func(n nic) bool {
			return n.up && slices.ContainsFunc(n.at, func(p netip.Prefix) bool { return it.matches(&n, p.Addr()) })
		}) {
			list = append(list, fmt.Sprintf("%q", it.text))
		}
	}
	return list
}
