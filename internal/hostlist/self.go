package hostlist

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"
)

// Self is what this host is known by.
type Self struct {
	Names []string     // its host name; no domain name system is asked for it
	Addrs []netip.Addr // of its interfaces, without zones
	User  string       // who runs this process, "" if unknown

	// Lookup resolves a name that isn't one of Names; nil: none is resolved. It may fail
	// or take long.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
}

// ThisHost asks the system. What it doesn't know is left out: a host may have a name that
// nobody can resolve, or none.
func ThisHost() Self {
	s := Self{Lookup: lookup}
	if name, err := os.Hostname(); err == nil && name != "" {
		s.Names = append(s.Names, name)
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			s.Addrs = append(s.Addrs, p.Addr().Unmap())
		}
	}
	if u, err := user.Current(); err == nil {
		s.User = u.Username
	}
	return s
}

func lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// Limits of Mark's questions to the domain name system.
const (
	lookupTime = 2 * time.Second // of all of them: ssh asks again, with its own patience
	lookups    = 32              // at once
)

// Mark says which of the hosts is this one (Host.Local). All entries that are become one:
// it stands where the first one stood, and has the slots of all. An entry with a port or
// with another user is never this host: whoever states them wants ssh.
func (s Self) Mark(ctx context.Context, hosts []Host) []Host {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	local := make([]bool, len(hosts))
	tokens := make(chan struct{}, lookups)
	var wg sync.WaitGroup
	for i, h := range hosts {
		if h.Port != 0 || h.User != "" && h.User != s.User {
			continue
		}
		var ask bool
		if local[i], ask = s.knows(h.Name); !ask || s.Lookup == nil {
			continue
		}
		wg.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			if addrs, err := s.Lookup(ctx, h.Name); err == nil {
				local[i] = s.owns(addrs)
			}
		})
	}
	wg.Wait()
	return merge(hosts, local)
}

// knows says whether a name is this host's, and whether a lookup would tell better.
func (s Self) knows(name string) (local, ask bool) {
	if a, err := netip.ParseAddr(name); err == nil {
		return s.owns([]netip.Addr{a}), false
	}
	key := nameKey(name)
	if key == "localhost" || strings.HasSuffix(key, ".localhost") {
		return true, false
	}
	guess := false
	for _, own := range s.Names {
		own = nameKey(own)
		if own == key || shortOf(own, key) && len(own) > len(key) {
			return true, false
		}
		// This host is h0, and there may be an h0 in another domain.
		guess = guess || shortOf(own, key)
	}
	return guess, true
}

// owns: loopback addresses are everybody's own.
func (s Self) owns(addrs []netip.Addr) bool {
	for _, a := range addrs {
		a = a.Unmap()
		if a.IsLoopback() {
			return true
		}
		for _, own := range s.Addrs {
			if own.WithZone("") == a.WithZone("") && (own.Zone() == "" || a.Zone() == "" || own.Zone() == a.Zone()) {
				return true
			}
		}
	}
	return false
}

func merge(hosts []Host, local []bool) []Host {
	var out []Host
	self := -1
	for i, h := range hosts {
		h.Local = local[i]
		if !h.Local || self < 0 {
			if h.Local {
				self = len(out)
			}
			out = append(out, h)
			continue
		}
		into := &out[self]
		// One entry without slots is no limit, and neither are two.
		if into.Slots == 0 || h.Slots == 0 {
			into.Slots, into.Max = 0, 0
			continue
		}
		bounded := into.Max > 0 && h.Max > 0
		into.Slots, into.Max = into.Slots+h.Slots, into.Max+h.Max
		if !bounded {
			into.Max = 0
		}
	}
	return out
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// SlurmHost is this host as a node of the allocation that the environment describes. Only
// names count: several nodes may be one machine, and then they aren't one host.
func SlurmHost(getenv func(string) string) Self {
	if name := getenv("SLURMD_NODENAME"); name != "" {
		return Self{Names: []string{name}}
	}
	return Self{Names: ThisHost().Names}
}
