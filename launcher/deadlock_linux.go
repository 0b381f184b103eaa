package launcher

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbena-mpi/verbena/internal/control"
)

// A job is in a deadlock when all ranks wait, and nothing is on its way that could
// end that. Ranks report by themselves that they have been blocked for seconds, with
// how many messages they have sent and received. When all have, and the sums agree,
// they are asked again: if all are blocked still, and no number has changed, then no
// message was on its way between the first look and the second, and none can come.

// maxBlockedLines is how many operations the report of a deadlock lists.
const maxBlockedLines = 64

// traffic is what all ranks together have sent and received.
type traffic struct{ sent, received uint64 }

// blockedTraffic adds up the ranks' numbers; no: one isn't blocked.
func (v *supervisor) blockedTraffic() (t traffic, all bool) {
	for _, r := range v.ranks {
		if r.reaped {
			continue
		}
		if r.link.blocked == nil {
			return t, false
		}
		t.sent += r.link.blocked.Sent
		t.received += r.link.blocked.Received
		all = true
	}
	return t, all
}

// suspect looks whether all ranks are blocked, and then asks them again.
func (v *supervisor) suspect() {
	t, all := v.blockedTraffic()
	if !all || t.sent != t.received || v.phase != running || v.round != nil || v.deadlock != nil && *v.deadlock == t {
		return
	}
	v.ask(func(r *round) { r.again, r.first = true, t })
}

// confirm says that there is a deadlock, if there is.
func (v *supervisor) confirm(d *round) {
	if t, all := v.blockedTraffic(); !all || t != d.first || v.phase != running {
		return
	}
	v.deadlock = &d.first
	cycle := findCycle(d.answers)
	v.printLater(deadlockText(d.answers, cycle))
	if !v.spec.DetectDeadlock {
		return
	}
	why := "deadlock: every rank waits"
	if len(cycle) > 0 {
		why = "deadlock: " + cycleText(cycle)
	}
	v.end(&failure{rank: -1, status: StatusDeadlock, why: why}, ending)
}

// deadlockText is the report.
func deadlockText(answers map[int]*answer, cycle []int) string {
	var b strings.Builder
	b.WriteString("verbrun: deadlock: every rank waits, and no message is on its way\n")
	lines := 0
	for _, id := range inOrder(answers, cycle) {
		for _, o := range answers[id].ops {
			if o.Place == "" {
				continue
			}
			if lines++; lines <= maxBlockedLines {
				fmt.Fprintf(&b, "verbrun: rank %d waits%s: %s\n", id, forWhom(o), opText(o))
			}
		}
	}
	if lines > maxBlockedLines {
		fmt.Fprintf(&b, "verbrun: and %d more\n", lines-maxBlockedLines)
	}
	if len(cycle) > 0 {
		fmt.Fprintf(&b, "verbrun: %s\n", cycleText(cycle))
	}
	return b.String()
}

// inOrder has the ranks of the cycle first, as they wait, and then the others.
func inOrder(answers map[int]*answer, cycle []int) []int {
	order := slices.Clone(cycle)
	var rest []int
	for id := range answers {
		if !slices.Contains(cycle, id) {
			rest = append(rest, id)
		}
	}
	slices.Sort(rest)
	return append(order, rest...)
}

func forWhom(o control.Op) string {
	switch {
	case o.Peer == control.Any:
		return " for any rank"
	case o.Peer >= 0:
		return " for rank " + strconv.Itoa(o.Peer)
	}
	return ""
}

func cycleText(cycle []int) string {
	if len(cycle) == 1 {
		return fmt.Sprintf("rank %d waits for itself", cycle[0])
	}
	names := make([]string, len(cycle), len(cycle)+1)
	for i, id := range cycle {
		names[i] = strconv.Itoa(id)
	}
	return "ranks " + strings.Join(append(names, names[0]), " → ") + " wait for each other"
}

// findCycle returns ranks of which each waits for the next, and the last for the
// first; none if there is no such cycle, as when all wait for one that waits for
// any. It begins at its lowest rank.
func findCycle(answers map[int]*answer) []int {
	const (
		unseen = iota
		onPath
		done
	)
	state := map[int]int{}
	var path, cycle []int
	var visit func(id int) bool
	visit = func(id int) bool {
		state[id] = onPath
		path = append(path, id)
		for _, o := range answers[id].ops {
			if o.Place == "" || answers[o.Peer] == nil {
				continue
			}
			if state[o.Peer] == onPath {
				cycle = slices.Clone(path[slices.Index(path, o.Peer):])
				return true
			}
			if state[o.Peer] == unseen && visit(o.Peer) {
				return true
			}
		}
		state[id] = done
		path = path[:len(path)-1]
		return false
	}
	for _, id := range inOrder(answers, nil) {
		if state[id] == unseen && visit(id) {
			break
		}
	}
	if len(cycle) > 0 {
		low := slices.Index(cycle, slices.Min(cycle))
		cycle = append(cycle[low:], cycle[:low]...)
	}
	return cycle
}
