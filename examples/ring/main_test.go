package main

import (
	"testing"

	"github.com/verbena-mpi/verbena/comm/commtest"
)

// The program checks its result itself.
func TestRing(t *testing.T) { commtest.Everywhere(t, 4, run) }
