// Bibw measures the bandwidth between two ranks that send windows of messages to
// each other at once.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

// tags of the data by its sender.
var tags = [2]int{100, 10}

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "bibw",
			Title:  "OSU MPI Bi-Directional Bandwidth Test",
			Metric: harness.Bandwidth,
		}, &exchange{c: c, peer: 1 - c.Rank()})
	})
}

type exchange struct {
	c          *comm.Comm
	peer       int
	send, recv [][]byte
	requests   []comm.Request
	results    []comm.Result
}

func (x *exchange) Use(send, recv [][]byte) {
	x.send, x.recv = send, recv
	if n := len(send) + len(recv); n != len(x.requests) {
		x.requests, x.results = make([]comm.Request, n), make([]comm.Result, n)
	}
}

// Step is a window each way.
func (x *exchange) Step(ctx context.Context) error {
	for i, m := range x.recv {
		x.requests[i] = comm.Irecv(x.c, m, x.peer, tags[x.peer])
	}
	for i, m := range x.send {
		x.requests[len(x.recv)+i] = comm.Isend(x.c, m, x.peer, tags[1-x.peer])
	}
	return comm.WaitAllInto(ctx, x.requests, x.results)
}
