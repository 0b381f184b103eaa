package launcher

import (
	"fmt"
	"strings"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

// place says how many ranks each host gets, and on which host each rank runs. ranks 0:
// as many as there are slots, where a host that states none counts one, or as many as a
// mapping by ppr asks for.
//
// A host that states no slots has no limit. By slot, what doesn't fit into stated slots is
// divided evenly among those hosts. With oversubscribe the stated slots are filled first;
// the rest is divided evenly among all, as far as each one's max_slots goes.
func place(hosts []hostlist.Host, ranks int, by MapBy, oversubscribe bool) (host []int, err error) {
	if ranks == 0 {
		ranks = slotsOf(hosts)
		if by.Kind == MapPPR {
			ranks = by.N * len(hosts)
		}
	}
	if ranks > MaxRanks {
		return nil, fail(StatusUsage, "%d ranks: expected at most %d", ranks, MaxRanks)
	}
	limits := make([]int, len(hosts)) // of each host
	room := 0
	for i, h := range hosts {
		limits[i] = ranks
		if h.Slots > 0 && !oversubscribe {
			limits[i] = h.Slots
		} else if h.Max > 0 {
			limits[i] = h.Max
		}
		limits[i] = min(limits[i], ranks)
		room += limits[i]
	}
	if by.Kind == MapPPR {
		return placePPR(hosts, ranks, by.N, limits, oversubscribe)
	}
	if room < ranks {
		return nil, refusal(hosts, ranks, room, oversubscribe)
	}
	if by.Kind == MapNode {
		return placeNode(ranks, limits), nil
	}
	return blocks(shares(hosts, ranks, limits)), nil
}

// slotsOf counts the slots of all hosts.
func slotsOf(hosts []hostlist.Host) int {
	n := 0
	for _, h := range hosts {
		n += max(h.Slots, 1)
	}
	return n
}

// shares says how many ranks each host gets by slot.
func shares(hosts []hostlist.Host, ranks int, limits []int) []int {
	counts := make([]int, len(hosts))
	stated, open := 0, 0
	for _, h := range hosts {
		if h.Slots == 0 {
			open++
		}
		stated += h.Slots
	}
	extra := max(ranks-stated, open) // for hosts without stated slots: at least one each
	left := ranks
	for i, h := range hosts {
		slots := h.Slots
		if slots == 0 {
			slots = (extra + open - 1) / open
			extra, open = extra-slots, open-1
		}
		counts[i] = min(slots, limits[i], left)
		left -= counts[i]
	}
	for left > 0 { // the rest: max_slots has room for it
		for i := range counts {
			if left > 0 && counts[i] < limits[i] {
				counts[i], left = counts[i]+1, left-1
			}
		}
	}
	return counts
}

// blocks puts ranks on hosts one host after the other.
func blocks(counts []int) []int {
	var host []int
	for i, n := range counts {
		for range n {
			host = append(host, i)
		}
	}
	return host
}

// placeNode deals ranks out, one to each host that has room, and again.
func placeNode(ranks int, limits []int) []int {
	var host []int
	for counts := make([]int, len(limits)); len(host) < ranks; {
		for i := range limits {
			if len(host) < ranks && counts[i] < limits[i] {
				counts[i]++
				host = append(host, i)
			}
		}
	}
	return host
}

// placePPR gives each host n ranks, as long as there are any.
func placePPR(hosts []hostlist.Host, ranks, n int, limits []int, oversubscribe bool) ([]int, error) {
	if most := n * len(hosts); ranks > most {
		return nil, fail(StatusUsage, "%d ranks asked, and --map-by ppr:%d gives %d on %s: use -n %d, or more hosts", ranks, n, most, plural(len(hosts), "host"), most)
	}
	counts := make([]int, len(hosts))
	for i, left := 0, ranks; left > 0; i++ {
		counts[i] = min(n, left)
		if left -= counts[i]; counts[i] > limits[i] {
			h := hosts[i]
			if oversubscribe || h.Slots == 0 {
				return nil, fail(StatusUsage, "--map-by ppr:%d: %d ranks on %s, and it has max_slots %d%s", n, counts[i], h.Name, h.Max, inBrackets(h.Where()))
			}
			return nil, fail(StatusUsage, "--map-by ppr:%d: %d ranks on %s, and it has %s%s; use --oversubscribe or ppr:%d", n, counts[i], h.Name, slotText(h), inBrackets(h.Where()), h.Slots)
		}
	}
	return blocks(counts), nil
}

// refusal says what was found where.
func refusal(hosts []hostlist.Host, ranks, room int, oversubscribe bool) error {
	const most = 16 // hosts that are named
	var found []string
	for i, h := range hosts {
		if i == most {
			found = append(found, fmt.Sprintf("%d hosts more", len(hosts)-i))
			break
		}
		n := h.Slots
		if oversubscribe {
			n = h.Max
		}
		found = append(found, fmt.Sprintf("%s %d%s", h.Name, n, inBrackets(h.Where())))
	}
	what, advice := "slots", fmt.Sprintf("use --oversubscribe or -n %d", room)
	if oversubscribe {
		what, advice = "allowed by max_slots", fmt.Sprintf("use -n %d", room)
	}
	return fail(StatusUsage, "%d ranks asked, %d %s: %s; %s", ranks, room, what, strings.Join(found, ", "), advice)
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
