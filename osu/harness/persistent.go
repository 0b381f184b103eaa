package harness

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// PersistentPingPong is PingPong with requests that are made once for each size, and
// started in each step.
type PersistentPingPong struct {
	comm       *comm.Comm
	peer       int
	send, recv *comm.Persistent
}

// NewPersistentPingPong makes the body that plays with a rank.
func NewPersistentPingPong(c *comm.Comm, peer int) *PersistentPingPong {
	return &PersistentPingPong{comm: c, peer: peer}
}

// Use implements Body.
func (p *PersistentPingPong) Use(send, recv [][]byte) {
	p.send = comm.SendInit(p.comm, send[0], p.peer, tagPingPong)
	p.recv = comm.RecvInit(p.comm, recv[0], p.peer, tagPingPong)
}

// Step implements Body.
func (p *PersistentPingPong) Step(ctx context.Context) error {
	first, second := p.send, p.recv
	if p.comm.Rank() > p.peer {
		first, second = second, first
	}
	if _, err := first.Start().Wait(ctx); err != nil {
		return err
	}
	_, err := second.Start().Wait(ctx)
	return err
}

// PersistentStream is Stream with requests that are made once for each size, and
// started in each step.
type PersistentStream struct {
	comm     *comm.Comm
	peer     int
	answer   []byte
	window   []*comm.Persistent // of this side
	requests []comm.Request
	results  []comm.Result
}

// NewPersistentStream makes the body that streams to a rank, or from it, with answers
// of so many bytes.
func NewPersistentStream(c *comm.Comm, peer, answer int) *PersistentStream {
	return &PersistentStream{comm: c, peer: peer, answer: make([]byte, answer)}
}

// Use implements Body.
func (s *PersistentStream) Use(send, recv [][]byte) {
	s.window = s.window[:0]
	for _, m := range send {
		s.window = append(s.window, comm.SendInit(s.comm, m, s.peer, tagStream))
	}
	for _, m := range recv {
		s.window = append(s.window, comm.RecvInit(s.comm, m, s.peer, tagStream))
	}
	if n := len(s.window); n != len(s.results) {
		s.requests, s.results = make([]comm.Request, 0, n), make([]comm.Result, n)
	}
}

// Step implements Body.
func (s *PersistentStream) Step(ctx context.Context) error {
	s.requests = comm.StartAll(s.requests[:0], s.window)
	if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
		return err
	}
	if s.comm.Rank() < s.peer {
		_, err := comm.Recv(ctx, s.comm, s.answer, s.peer, tagAnswer)
		return err
	}
	return comm.Send(ctx, s.comm, s.answer, s.peer, tagAnswer)
}
