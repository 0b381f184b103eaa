package harness

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

const tagPingPong = 1

// PingPong is the step of the latency benchmarks: a message to and fro between this
// rank and its peer. The one of lower number begins.
type PingPong struct {
	comm       *comm.Comm
	peer       int
	send, recv []byte
}

// NewPingPong makes the body that plays with a rank.
func NewPingPong(c *comm.Comm, peer int) *PingPong { return &PingPong{comm: c, peer: peer} }

// Use implements Body.
func (p *PingPong) Use(send, recv [][]byte) { p.send, p.recv = send[0], recv[0] }

// Step implements Body.
func (p *PingPong) Step(ctx context.Context) error {
	if p.comm.Rank() < p.peer {
		if err := comm.Send(ctx, p.comm, p.send, p.peer, tagPingPong); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, p.comm, p.recv, p.peer, tagPingPong)
		return err
	}
	if _, err := comm.Recv(ctx, p.comm, p.recv, p.peer, tagPingPong); err != nil {
		return err
	}
	return comm.Send(ctx, p.comm, p.send, p.peer, tagPingPong)
}
