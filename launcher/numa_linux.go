package launcher

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sysNodes is where the kernel describes the NUMA nodes.
const sysNodes = "/sys/devices/system/node"

// numaNodes lists the cores of each NUMA node that has any of these, ascending.
// Cores whose node isn't known are a node of their own.
func numaNodes(sys string, cores []int) [][]int {
	var nodes [][]int
	left := slices.Clone(cores)
	lists, _ := filepath.Glob(filepath.Join(sys, "node[0-9]*", "cpulist"))
	for _, name := range lists {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		all := parseRanges(string(b))
		var node []int
		for _, c := range cores {
			if slices.Contains(all, c) {
				node = append(node, c)
			}
		}
		left = slices.DeleteFunc(left, func(c int) bool { return slices.Contains(node, c) })
		if len(node) > 0 {
			nodes = append(nodes, node)
		}
	}
	if len(left) > 0 {
		nodes = append(nodes, left)
	}
	return nodes
}

// parseRanges reads what ranges writes, and leaves out what isn't that.
func parseRanges(s string) []int {
	var ids []int
	for f := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		from, to, both := strings.Cut(f, "-")
		if !both {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || b-a > 1<<16 {
			continue
		}
		for i := range b - a + 1 {
			ids = append(ids, a+i)
		}
	}
	return ids
}
