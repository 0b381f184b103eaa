package harness

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// maxParts is how many partitions a message of PartitionedPingPong has, if its bytes
// can be divided so.
const maxParts = 8

// PartitionedPingPong is PingPong with messages in partitions, which are made ready one
// by one.
type PartitionedPingPong struct {
	comm       *comm.Comm
	peer       int
	parts      int
	send, recv *comm.Partitioned
}

// NewPartitionedPingPong makes the body that plays with a rank.
func NewPartitionedPingPong(c *comm.Comm, peer int) *PartitionedPingPong {
	return &PartitionedPingPong{comm: c, peer: peer}
}

// Use implements Body.
func (p *PartitionedPingPong) Use(send, recv [][]byte) {
	for p.parts = maxParts; len(send[0])%p.parts != 0; {
		p.parts--
	}
	p.send = comm.PsendInit(p.comm, send[0], p.parts, p.peer, tagPingPong)
	p.recv = comm.PrecvInit(p.comm, recv[0], p.parts, p.peer, tagPingPong)
}

// Step implements Body.
func (p *PartitionedPingPong) Step(ctx context.Context) error {
	if p.comm.Rank() < p.peer {
		if err := p.sendAll(ctx); err != nil {
			return err
		}
		_, err := p.recv.Start().Wait(ctx)
		return err
	}
	if _, err := p.recv.Start().Wait(ctx); err != nil {
		return err
	}
	return p.sendAll(ctx)
}

func (p *PartitionedPingPong) sendAll(ctx context.Context) error {
	q := p.send.Start()
	for i := range p.parts {
		if err := p.send.Ready(i); err != nil {
			return err
		}
	}
	_, err := q.Wait(ctx)
	return err
}
