package launcher

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/internal/ranges"
)

// display is the plan for people: a line per host that says its slots, where it was
// named and which ranks it has.
func (p *plan) display() string {
	var b strings.Builder
	for i, h := range p.Hosts {
		fmt.Fprintf(&b, "%s: %s%s", hostName(h), slotText(h), inBrackets(h.Where()))
		if h.Local && h.Name != "" {
			b.WriteString(", this host")
		}
		switch ranks := p.ranksOn(i); len(ranks) {
		case 0:
			b.WriteString(": no ranks\n")
		case 1:
			fmt.Fprintf(&b, ": rank %d\n", ranks[0])
		default:
			fmt.Fprintf(&b, ": ranks %s\n", ranges.Format(ranks))
		}
	}
	return b.String()
}

// hostName names a host; that of a job without hosts has no name.
func hostName(h hostlist.Host) string {
	switch {
	case h.Name == "":
		return "this host"
	case h.User != "":
		return h.User + "@" + h.Name
	}
	return h.Name
}

func slotText(h hostlist.Host) string {
	s := "slots not stated"
	if h.Slots > 0 {
		s = plural(h.Slots, "slot")
	}
	if h.Max > 0 {
		s += ", at most " + strconv.Itoa(h.Max)
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
