package doctor

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// judge makes findings of what all helpers have said.
func judge(visits []*visit, version string) []Finding {
	all := answers(visits, version)
	all = append(all, twins(visits)...)
	for _, v := range visits {
		if v.err != nil || v.host.Local {
			continue // of this host all findings are printed
		}
		for _, f := range v.hello.Findings {
			if f.Level != OK {
				f.Check = v.host.Name + ": " + f.Check
				all = append(all, f)
			}
		}
	}
	return append(all, pairs(visits)...)
}

// answers says which hosts have a helper, and whether it is like us.
func answers(visits []*visit, version string) []Finding {
	const check = "hosts"
	var all []Finding
	good := 0
	for _, v := range visits {
		f := Finding{Check: check}
		switch {
		case v.err != nil:
			f.Level, f.Found = Problem, fmt.Sprintf("%s: %v", v.host.Name, v.err)
			f.Level, f.Advice = blame(v.err)
		case v.hello.Version != version:
			f.Level, f.Found = Problem, fmt.Sprintf("%s has verbrun %s, and this is %s", v.host.Name, v.hello.Version, version)
			f.Advice = "install the same one there"
		case v.off > time.Second || v.off < -time.Second:
			f.Level, f.Found = Warning, fmt.Sprintf("%s: its clock is %v off", v.host.Name, v.off.Round(time.Second/10))
			f.Advice = "times in messages of several hosts can't be compared: run NTP"
			good++
		case v.hello.Cores > 0 && v.host.Slots > v.hello.Cores:
			f.Level, f.Found = Warning, fmt.Sprintf("%s has %d slots, and may use %d cores", v.host.Name, v.host.Slots, v.hello.Cores)
			f.Advice = "ranks that share cores wait for each other: state fewer slots"
			good++
		default:
			good++
			continue
		}
		all = append(all, f)
	}
	if good > 0 {
		f := ok("%d of %d have this verbrun at this path, and it can be started", good, len(visits))
		f.Check = check
		all = append(all, f)
	}
	return all
}

// blame says what may be wrong with a host that has no helper.
func blame(err error) (Level, string) {
	e, is := errors.AsType[*helperError](err)
	switch {
	case is && e.status == 255: // ssh's own
		return Problem, "the same command must work without a password or a question: ssh-copy-id, ssh-keyscan"
	case is && (e.status == 126 || e.status == 127):
		return Problem, "install this verbrun at this path there"
	}
	return Problem, "try the same command by hand"
}

// twins finds hosts that are one, and addresses that several have.
func twins(visits []*visit) []Finding {
	machines := map[string][]string{}
	owners := map[netip.Addr][]string{}
	for _, v := range visits {
		if v.err != nil {
			continue
		}
		if id := v.hello.Machine; id != "" {
			machines[id] = append(machines[id], v.host.Name)
		}
		for _, n := range addresses(v.hello.Networks) {
			if ip := n.Addr.Addr(); !n.Last {
				owners[ip] = append(owners[ip], v.host.Name)
			}
		}
	}
	var all []Finding
	for _, id := range slices.Sorted(maps.Keys(machines)) {
		if names := machines[id]; len(names) > 1 {
			f := warning("name it once, or its slots count twice", "%s are one host", strings.Join(names, " and "))
			f.Check = "hosts"
			all = append(all, f)
			return all // and all their addresses are the same
		}
	}
	for _, ip := range slices.SortedFunc(maps.Keys(owners), netip.Addr.Compare) {
		if names := owners[ip]; len(names) > 1 {
			f := warning("leave it out, as by VERBENA_NET=^"+ip.String(), "%s all have the address %v", strings.Join(names, ", "), ip)
			f.Check = "network"
			all = append(all, f)
		}
	}
	return all
}

// pairs judges the connections.
func pairs(visits []*visit) []Finding {
	const check, most = "connections", 16
	var all []Finding
	made, bad := 0, 0
	var slowest time.Duration
	add := func(f Finding) {
		f.Check = check
		if bad++; bad <= most {
			all = append(all, f)
		}
	}
	there := 0
	for i, v := range visits {
		if v.err != nil {
			continue
		}
		there++
		got := map[int]result{}
		for _, r := range v.to {
			got[r.Host] = r
		}
		for j, o := range visits {
			if i == j || o.err != nil || o.hello.Machine != "" && o.hello.Machine == v.hello.Machine {
				continue
			}
			way := v.host.Name + " to " + o.host.Name
			r, asked := got[j]
			switch f, took := pairOf(r); {
			case len(v.dialable(o)) == 0:
				add(problem("give it one, or change VERBENA_NET", "%s: %s has no address that others could use", way, o.host.Name))
			case !asked:
				add(problem("try again", "%s: the helper of %s ended before it was done: %v", way, v.host.Name, v.lost))
			case f.Level != OK:
				f.Found = way + ": " + f.Found
				add(f)
				if f.Level == Warning {
					made++
				}
			default:
				made++
				slowest = max(slowest, took)
			}
		}
	}
	if bad > most {
		f := problem("", "%d pairs more", bad-most)
		f.Check = check
		all = append(all, f)
	}
	if made > 0 {
		f := ok("%d made between %d hosts, each way; the slowest took %v", made, there, slowest.Round(time.Microsecond))
		f.Check = check
		all = append(all, f)
	}
	return all
}

// pairOf judges the connections that one host has made to another.
func pairOf(r result) (Finding, time.Duration) {
	var good, bad []string
	var took time.Duration
	for _, t := range r.Tries {
		if t.Err == "" {
			good = append(good, t.Addr)
			took = max(took, t.Took)
			continue
		}
		bad = append(bad, t.Addr+" "+t.Err)
	}
	switch {
	case len(good) == 0:
		return problem("a firewall may be in the way: ranks listen on ports that the system chooses (/proc/sys/net/ipv4/ip_local_port_range)", "%s", strings.Join(bad, ", ")), 0
	case len(bad) > 0:
		return warning("first connections may lose time: VERBENA_NET says which networks to use", "%s; but %s answers", strings.Join(bad, ", "), strings.Join(good, ", ")), took
	}
	return Finding{}, took
}
