package launcher

import "github.com/verbena-mpi/verbena/internal/ranges"

// AllowedCores lists the cores that this process may use, and how the machine's
// NUMA nodes divide them.
func AllowedCores() (cores string, nodes []string, err error) {
	b, err := newBinding(0, BindNone)
	if err != nil {
		return "", nil, err
	}
	for _, n := range numaNodes(sysNodes, b.cores) {
		nodes = append(nodes, ranges.Format(n))
	}
	return ranges.Format(b.cores), nodes, nil
}
