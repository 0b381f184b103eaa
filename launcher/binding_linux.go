package launcher

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/ranges"
)

// binding says on which cores of this host each of its ranks runs. Ranks are numbered
// here as they are on the host, from 0.
type binding struct {
	home  unix.CPUSet // what this process may use
	cores []int       // the same, ascending
	seats [][]int     // by rank: its cores; nil: not bound
	own   bool        // each has a core that no other rank uses
}

// newBinding places so many ranks on the cores that this process may use.
func newBinding(ranks int, mode Bind) (*binding, error) {
	b := &binding{}
	if err := unix.SchedGetaffinity(0, &b.home); err != nil {
		return nil, fail(StatusInternal, "reading the allowed cores: %w", err)
	}
	for c := 0; len(b.cores) < b.home.Count(); c++ {
		if b.home.IsSet(c) {
			b.cores = append(b.cores, c)
		}
	}
	fits := ranks <= len(b.cores)
	b.own = fits && (mode == BindCore || mode == BindAuto)
	nodes := [][]int{b.cores}
	if mode == BindNUMA {
		nodes = numaNodes(sysNodes, b.cores)
	}
	for rank := range ranks {
		var cores []int
		switch {
		case mode == BindNUMA:
			cores = nodeOf(nodes, b.cores[rank*len(b.cores)/ranks])
		case mode == BindCore || b.own:
			cores = []int{b.cores[rank%len(b.cores)]}
		}
		b.seats = append(b.seats, cores)
	}
	return b, nil
}

// nodeOf finds the node of a core.
func nodeOf(nodes [][]int, core int) []int {
	return nodes[slices.IndexFunc(nodes, func(n []int) bool { return slices.Contains(n, core) })]
}

// move moves the calling thread, which stays locked, to where its next child is
// to be.
func (b *binding) move(rank int) error {
	set := b.home
	if cores := b.seats[rank]; cores != nil {
		set.Zero()
		for _, c := range cores {
			set.Set(c)
		}
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fail(StatusInternal, "binding local rank %d: %w", rank, err)
	}
	return nil
}

// back moves the thread back.
func (b *binding) back() error {
	if err := unix.SchedSetaffinity(0, &b.home); err != nil {
		return fail(StatusInternal, "moving back to all cores: %w", err)
	}
	return nil
}

// where says in words where a rank runs.
func (b *binding) where(rank int) string {
	switch cores := b.seats[rank]; len(cores) {
	case 0:
		return fmt.Sprintf("not bound, cores %s", ranges.Format(b.cores))
	case 1:
		return fmt.Sprintf("core %d", cores[0])
	default:
		return "cores " + ranges.Format(cores)
	}
}
