package coll_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// Each rank has a part of a vector; all want its norm squared.
func ExampleAllreduce() {
	program := func(ctx context.Context, c *comm.Comm) error {
		part := []float64{float64(c.Rank()), 1}
		norm := []float64{0}
		for _, x := range part {
			norm[0] += x * x
		}
		if err := coll.Allreduce(ctx, c, norm, norm, coll.Sum); err != nil { // in place
			return err
		}
		if c.Rank() == c.Size()-1 {
			fmt.Println(norm[0])
		}
		return nil
	}
	commtest.Run(test{}, 4, program) // a program of its own has: comm.Main(program)
	// Output: 18
}

// An operator of one's own: the largest value, and where it is.
func ExampleReduce() {
	type at struct {
		Value float64
		Rank  int32
	}
	highest := func(into, from []at) {
		for i := range into {
			if from[i].Value > into[i].Value { // of equals, that of the lowest rank
				into[i] = from[i]
			}
		}
	}
	commtest.Run(test{}, 5, func(ctx context.Context, c *comm.Comm) error {
		mine := []at{{float64(7 * c.Rank() % 5), int32(c.Rank())}}
		var result [1]at
		if err := coll.Reduce(ctx, c, mine, result[:], 0, highest); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(result[0])
		}
		return nil
	})
	// Output: {4 2}
}

// Parts of different lengths: rank r has r values.
func ExampleGatherv() {
	commtest.Run(test{}, 4, func(ctx context.Context, c *comm.Comm) error {
		mine := make([]int, c.Rank())
		for i := range mine {
			mine[i] = 10*c.Rank() + i
		}
		if c.Rank() != 0 {
			return coll.Gatherv(ctx, c, mine, nil, 0)
		}
		all := make([]int, 6)
		if err := coll.Gatherv(ctx, c, mine, coll.Cut(all, []int{0, 1, 2, 3}), 0); err != nil {
			return err
		}
		fmt.Println(all)
		return nil
	})
	// Output: [10 20 21 30 31 32]
}

// test stands in for the *testing.T that a test function gets.
type test struct{ testing.TB }

func (test) Helper()                           {}
func (test) Context() context.Context          { return context.Background() }
func (test) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (test) Failed() bool                      { return false }
func (test) Skipped() bool                     { return false }
func (test) FailNow()                          { runtime.Goexit() }
