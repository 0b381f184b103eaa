package main

import (
	"fmt"
	"testing"

	"github.com/verbena-mpi/verbena/comm/commtest"
)

// The farm finds all primes with workers and without: the program checks that
// itself.
func TestFarm(t *testing.T) {
	for _, ranks := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) { commtest.Run(t, ranks, run) })
	}
}

func TestFarmOfProcesses(t *testing.T) { commtest.Processes(t, 3, run) }
