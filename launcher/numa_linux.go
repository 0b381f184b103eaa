package launcher

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/verbena-mpi/verbena/internal/ranges"
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
		all := ranges.Parse(string(b))
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
