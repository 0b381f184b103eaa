// Latency measures the one-way latency between two ranks: they pass a message
// to and fro, and half of the mean time of a round trip is printed.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

const tag = 1

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.Run(ctx, c, harness.Spec{
			Name:   "latency",
			Title:  "OSU MPI Latency Test",
			Metric: harness.Latency,
		}, &pingPong{c: c, peer: 1 - c.Rank()})
	})
}

type pingPong struct {
	c          *comm.Comm
	peer       int
	send, recv []byte
}

func (p *pingPong) Use(send, recv [][]byte) { p.send, p.recv = send[0], recv[0] }

// Step is a round trip: there and back on rank 0, an echo on rank 1.
func (p *pingPong) Step(ctx context.Context) error {
	if p.peer == 1 {
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
