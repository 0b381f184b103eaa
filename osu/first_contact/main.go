// First_contact measures what connections cost: every rank sends 8 bytes to every
// other and receives as much from it, which makes all connections, and then the same
// again over connections that are there. It has no counterpart in the C suite.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/osu/harness"
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunOnce(ctx, c, harness.Spec{
			Name:   "first_contact",
			Title:  "First Contact Test",
			Metric: harness.Once,
		}, func(ctx context.Context) (string, error) { return measure(ctx, c) })
	})
}

// figures are one rank's.
type figures struct {
	First, Second int64 // how long an exchange took, ns
	Peers         int64 // that it is connected to afterwards
	Before, After int64 // bytes of memory
}

func measure(ctx context.Context, c *comm.Comm) (string, error) {
	var f figures
	f.Before = resident()
	for _, took := range []*int64{&f.First, &f.Second} {
		began := time.Now()
		if err := exchange(ctx, c); err != nil {
			return "", err
		}
		*took = time.Since(began).Nanoseconds()
	}
	f.After = resident()
	for _, p := range c.World().Info().Peers {
		if p.Connected {
			f.Peers++
		}
	}
	all := make([]figures, c.Size())
	if err := coll.Gather(ctx, c, []figures{f}, all, 0); err != nil {
		return "", err
	}
	return text(all), nil
}

// exchange passes a message between each two ranks, both ways.
func exchange(ctx context.Context, c *comm.Comm) error {
	n := c.Size()
	in, out := make([]int64, n), make([]int64, n)
	var requests []comm.Request
	for i := 1; i < n; i++ {
		from, to := (c.Rank()+n-i)%n, (c.Rank()+i)%n
		out[to] = int64(c.Rank()*n + to)
		requests = append(requests,
			comm.Irecv(c, in[from:from+1], from, 0),
			comm.Isend(c, out[to:to+1], to, 0))
	}
	if err := comm.WaitAll(ctx, requests...); err != nil {
		return err
	}
	for from, v := range in {
		if want := int64(from*n + c.Rank()); from != c.Rank() && v != want {
			return fmt.Errorf("rank %d got %d from rank %d: expected %d", c.Rank(), v, from, want)
		}
	}
	return nil
}

// text is what all ranks measured, in lines.
func text(all []figures) string {
	of := func(f func(figures) int64) []int64 {
		v := make([]int64, len(all))
		for i := range all {
			v[i] = f(all[i])
		}
		slices.Sort(v)
		return v
	}
	var b strings.Builder
	peers := of(func(f figures) int64 { return f.Peers })
	fmt.Fprintf(&b, "nprocs: %d, connected peers of a rank: min %d, max %d\n", len(all), peers[0], peers[len(peers)-1])
	line := func(what, unit string, scale float64, v []int64) {
		fmt.Fprintf(&b, "%-30s min %8.3f  median %8.3f  max %8.3f %s\n",
			what, float64(v[0])/scale, float64(v[len(v)/2])/scale, float64(v[len(v)-1])/scale, unit)
	}
	line("first exchange with all", "ms", 1e6, of(func(f figures) int64 { return f.First }))
	line("second", "ms", 1e6, of(func(f figures) int64 { return f.Second }))
	line("memory of a rank before", "MiB", 1<<20, of(func(f figures) int64 { return f.Before }))
	line("memory of a rank afterwards", "MiB", 1<<20, of(func(f figures) int64 { return f.After }))
	return strings.TrimSuffix(b.String(), "\n")
}
