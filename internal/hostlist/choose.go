package hostlist

import (
	"fmt"
	"strings"
)

// From chooses among the hosts of a hostfile or an allocation: those that the choice
// names, in its order, with the slots that it states, if they are there; or all but those
// that it leaves out. Without such a list (none is empty) it is the list itself.
func (c Choice) From(all []Host) ([]Host, error) {
	if len(all) == 0 {
		if len(c.Hosts) == 0 {
			return nil, fmt.Errorf("hosts are left out, and none is given to leave them out of")
		}
		return c.Hosts, nil
	}
	if len(c.Hosts) == 0 {
		var hosts []Host
		for _, h := range all {
			if !c.out.excludes(h) {
				hosts = append(hosts, h)
			}
		}
		if len(hosts) == 0 {
			return nil, fmt.Errorf("all hosts of %s are left out", all[0].Where())
		}
		return hosts, nil
	}
	var hosts []Host
	taken := map[string]string{} // by key: the name by which it was chosen
	for _, want := range c.Hosts {
		h, ok := find(all, want)
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: %s isn't among the hosts of %s: %s", want.Where(), want.Name, all[0].File, names(all))
		case taken[h.key()] != "":
			return nil, fmt.Errorf("%s: %s and %s are one host of %s", want.Where(), taken[h.key()], want.Name, h.Where())
		case h.Slots > 0 && want.Slots > h.Slots:
			return nil, fmt.Errorf("%s: %d slots of %s: %s states %d", want.Where(), want.Slots, want.Name, h.Where(), h.Slots)
		case want.Slots > 0:
			h.Slots = want.Slots
		}
		taken[h.key()] = want.Name
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// find looks for a host by its name, or by the first part of it where one of the two
// names is no longer.
func find(all []Host, want Host) (Host, bool) {
	for _, exact := range []bool{true, false} {
		for _, h := range all {
			if (want.User == "" || want.User == h.User) && (nameKey(h.Name) == nameKey(want.Name) || !exact && shortOf(h.Name, want.Name)) {
				return h, true
			}
		}
	}
	return Host{}, false
}

// shortOf says whether one of two names is the first part of the other.
func shortOf(a, b string) bool {
	a, b = nameKey(a), nameKey(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && strings.HasPrefix(rest, ".") && !strings.Contains(a, ".") && !isAddress(b)
}

// names lists the first few.
func names(hosts []Host) string {
	const most = 16
	var b strings.Builder
	for i, h := range hosts {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(hosts)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(h.Name)
	}
	return b.String()
}
