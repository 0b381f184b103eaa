package harness

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

const (
	tagStream = 100
	tagAnswer = 101
)

// Stream is the step of the bandwidth benchmarks: a window of messages is sent
// without waiting, then answered as a whole. Of the two ranks the one of lower number
// sends.
type Stream struct {
	comm       *comm.Comm
	peer       int
	send, recv [][]byte // the sender has the one, the receiver the other
	answer     []byte
	requests   []comm.Request
	results    []comm.Result
}

// NewStream makes the body that streams to a rank, or from it, with answers of so
// many bytes.
func NewStream(c *comm.Comm, peer, answer int) *Stream {
	return &Stream{comm: c, peer: peer, answer: make([]byte, answer)}
}

// Use implements Body.
func (s *Stream) Use(send, recv [][]byte) {
	s.send, s.recv = send, recv
	if n := max(len(send), len(recv)); n != len(s.requests) {
		s.requests, s.results = make([]comm.Request, n), make([]comm.Result, n)
	}
}

// Step implements Body.
func (s *Stream) Step(ctx context.Context) error {
	if s.comm.Rank() < s.peer {
		for i, m := range s.send {
			s.requests[i] = comm.Isend(s.comm, m, s.peer, tagStream)
		}
		if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, s.comm, s.answer, s.peer, tagAnswer)
		return err
	}
	for i, m := range s.recv {
		s.requests[i] = comm.Irecv(s.comm, m, s.peer, tagStream)
	}
	if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
		return err
	}
	return comm.Send(ctx, s.comm, s.answer, s.peer, tagAnswer)
}
