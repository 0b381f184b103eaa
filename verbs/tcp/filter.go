package tcp

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	"github.com/verbena-mpi/verbena/verbs"
)

// filter is what VERBENA_NET says.
type filter struct {
	only []item // in the order of preference; none: whatever is up
	not  []item
}

// item names interfaces or addresses.
type item struct {
	text   string
	glob   string       // of interfaces' names, or
	prefix netip.Prefix // of addresses
}

// parseFilter reads items with commas between, each with a ^ before it or not.
func parseFilter(text string) (f filter, err error) {
	if strings.TrimSpace(text) == "" {
		return f, nil
	}
	for i, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		name, not := strings.CutPrefix(word, "^")
		it, err := parseItem(name)
		if err != nil {
			return f, fmt.Errorf("%w: tcp: the network %q: item %d, %q: %w", verbs.ErrInvalid, text, i+1, word, err)
		}
		if not {
			f.not = append(f.not, it)
		} else {
			f.only = append(f.only, it)
		}
	}
	return f, nil
}

func parseItem(text string) (item, error) {
	it := item{text: text}
	if text == "" {
		return it, fmt.Errorf("nothing is there; expected an interface, an address or a prefix, as in eth0,10.0.0.0/8,^docker0")
	}
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return it, fmt.Errorf("not a prefix, as 10.0.0.0/8 is")
		}
		if p.Addr().Is4In6() {
			return it, fmt.Errorf("write %v as an IPv4 prefix", p)
		}
		it.prefix = p.Masked()
		return it, nil
	}
	if ip, err := netip.ParseAddr(text); err == nil {
		ip = ip.Unmap().WithZone("")
		it.prefix = netip.PrefixFrom(ip, ip.BitLen())
		return it, nil
	}
	if _, err := path.Match(text, ""); err != nil {
		return it, fmt.Errorf("not a pattern of names: %w", err)
	}
	if strings.ContainsAny(text, " \t^:") {
		return it, fmt.Errorf("not a name of an interface, an address or a prefix")
	}
	it.glob = text
	return it, nil
}

func (it *item) matches(n *nic, ip netip.Addr) bool {
	if it.prefix.IsValid() {
		return it.prefix.Contains(ip)
	}
	ok, _ := path.Match(it.glob, n.name)
	return ok
}

// rank says where in the order of preference an address of n stands, and whether it
// may serve at all.
func (f *filter) rank(n *nic, ip netip.Addr) (int, bool) {
	for i := range f.not {
		if f.not[i].matches(n, ip) {
			return 0, false
		}
	}
	for i := range f.only {
		if f.only[i].matches(n, ip) {
			return i, true
		}
	}
	return 0, len(f.only) == 0
}
