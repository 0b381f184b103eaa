package launcher

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// plan is where each rank goes.
type plan struct {
	home  unix.CPUSet // what this process may use
	cores []int       // the same, ascending
	seats []seat      // by rank
	own   bool        // each has a core that no other rank uses
}

// seat is one rank's place.
type seat struct {
	part  int
	cores []int // nil: not bound
}

// newPlan places the ranks on the cores that this process may use.
func newPlan(parts []part, mode Bind) (*plan, error) {
	p := &plan{}
	if err := unix.SchedGetaffinity(0, &p.home); err != nil {
		return nil, fail(StatusInternal, "reading the allowed cores: %w", err)
	}
	for c := 0; len(p.cores) < p.home.Count(); c++ {
		if p.home.IsSet(c) {
			p.cores = append(p.cores, c)
		}
	}
	size := ranksOf(parts)
	fits := size <= len(p.cores)
	p.own = fits && (mode == BindCore || mode == BindAuto)
	nodes := [][]int{p.cores}
	if mode == BindNUMA {
		nodes = numaNodes(sysNodes, p.cores)
	}
	for i, q := range parts {
		for range q.Ranks {
			s, rank := seat{part: i}, len(p.seats)
			switch {
			case mode == BindNUMA:
				s.cores = nodeOf(nodes, p.cores[rank*len(p.cores)/size])
			case mode == BindCore || p.own:
				s.cores = []int{p.cores[rank%len(p.cores)]}
			}
			p.seats = append(p.seats, s)
		}
	}
	return p, nil
}

// nodeOf finds the node of a core.
func nodeOf(nodes [][]int, core int) []int {
	return nodes[slices.IndexFunc(nodes, func(n []int) bool { return slices.Contains(n, core) })]
}

// move moves the calling thread, which stays locked, to where its next child is
// to be.
func (p *plan) move(rank int) error {
	set := p.home
	if cores := p.seats[rank].cores; cores != nil {
		set.Zero()
		for _, c := range cores {
			set.Set(c)
		}
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fail(StatusInternal, "binding rank %d: %w", rank, err)
	}
	return nil
}

// back moves the thread back.
func (p *plan) back() error {
	if err := unix.SchedSetaffinity(0, &p.home); err != nil {
		return fail(StatusInternal, "moving back to all cores: %w", err)
	}
	return nil
}

// where says in words where a rank runs.
func (p *plan) where(rank int) string {
	switch cores := p.seats[rank].cores; len(cores) {
	case 0:
		return fmt.Sprintf("not bound, cores %s", ranges(p.cores))
	case 1:
		return fmt.Sprintf("core %d", cores[0])
	default:
		return "cores " + ranges(cores)
	}
}
