package pmi

import (
	"fmt"
	"strings"
)

// mappingKey is where MPICH looks for which ranks share a host.
const mappingKey = "PMI_process_mapping"

// block is nodes beginning with start, each with procs ranks, in the order of
// ranks.
type block struct{ start, nodes, procs int }

// mapping writes the vector that says on which host each rank is. A reader goes
// through it again from its beginning when ranks are left, so a pattern that
// repeats is written once. It returns nothing if a value can't hold it: MPICH
// then asks the ranks for their hosts' names.
func mapping(hosts []int) string {
	var blocks []block
	for i := 0; i < len(hosts); {
		n := 1
		for i+n < len(hosts) && hosts[i+n] == hosts[i] {
			n++
		}
		b := block{hosts[i], 1, n}
		if last := len(blocks) - 1; last >= 0 && blocks[last].procs == n && blocks[last].start+blocks[last].nodes == b.start {
			blocks[last].nodes++
		} else {
			blocks = append(blocks, b)
		}
		i += n
	}
	blocks = blocks[:period(blocks)]
	var s strings.Builder
	s.WriteString("(vector")
	for _, b := range blocks {
		fmt.Fprintf(&s, ",(%d,%d,%d)", b.start, b.nodes, b.procs)
	}
	s.WriteString(")")
	if s.Len() > MaxValue {
		return ""
	}
	return s.String()
}

// period is the length of the shortest beginning that, repeated, is the whole.
func period(blocks []block) int {
	for p := 1; p <= len(blocks)/2; p++ {
		same := len(blocks)%p == 0
		for i := p; same && i < len(blocks); i++ {
			same = blocks[i] == blocks[i-p]
		}
		if same {
			return p
		}
	}
	return len(blocks)
}
