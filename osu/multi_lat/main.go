// Multi_lat measures the one-way latency between the ranks of several pairs at
// once, and prints their mean.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

const tag = 1

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunPairs(ctx, c, harness.Spec{
			Name:   "multi_lat",
			Title:  "OSU MPI Multi Latency Test",
			Metric: harness.Latency,
			Paired: true,
		}, func(peer int) harness.Body { return &pingPong{c: c, peer: peer} })
	})
}

type pingPong struct {
	c          *comm.Comm
	peer       int
	send, recv []byte
}

func (p *pingPong) Use(send, recv [][]byte) { p.send, p.recv = send[0], recv[0] }

// Step is a round trip: there and back on a pair's first rank, an echo on its
// second.
func (p *pingPong) Step(ctx context.Context) error {
	if p.c.Rank() < p.peer {
		if err := comm.Send(ctx, p.c, p.send, p.peer, tag); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, p.c, p.recv, p.peer, tag)
		return err
	}
	if _, err := comm.Recv(ctx, p.c, p.recv, p.peer, tag); err != nil {
		return err
	}
	return comm.Send(ctx, p.c, p.send, p.peer, tag)
}
