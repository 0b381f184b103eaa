package launcher

// AllowedCores lists the cores that this process may use, and how the machine's
// NUMA nodes divide them.
func AllowedCores() (cores string, nodes []string, err error) {
	p, err := newPlan(nil, BindNone)
	if err != nil {
		return "", nil, err
	}
	for _, n := range numaNodes(sysNodes, p.cores) {
		nodes = append(nodes, ranges(n))
	}
	return ranges(p.cores), nodes, nil
}
