// Mbw_mr measures the bandwidth and the message rate of several pairs of ranks
// together: in each, a window of messages is sent without waiting, then answered
// as a whole.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/osu/harness"
)

const (
	tagData   = 100
	tagAnswer = 101
)

func main() {
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		return harness.RunPairs(ctx, c, harness.Spec{
			Name:   "mbw_mr",
			Title:  "OSU MPI Multiple Bandwidth / Message Rate Test",
			Metric: harness.Rate,
			OneWay: true,
			Paired: true,
		}, func(peer int) harness.Body { return &stream{c: c, peer: peer, answer: make([]byte, 4)} })
	})
}

type stream struct {
	c          *comm.Comm
	peer       int
	send, recv [][]byte // a pair's first rank has the one, its second the other
	answer     []byte
	requests   []comm.Request
	results    []comm.Result
}

func (s *stream) Use(send, recv [][]byte) {
	s.send, s.recv = send, recv
	if n := max(len(send), len(recv)); n != len(s.requests) {
		s.requests, s.results = make([]comm.Request, n), make([]comm.Result, n)
	}
}

// Step is one window and its answer.
func (s *stream) Step(ctx context.Context) error {
	if s.c.Rank() < s.peer {
		for i, m := range s.send {
			s.requests[i] = comm.Isend(s.c, m, s.peer, tagData)
		}
		if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, s.c, s.answer, s.peer, tagAnswer)
		return err
	}
	for i, m := range s.recv {
		s.requests[i] = comm.Irecv(s.c, m, s.peer, tagData)
	}
	if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
		return err
	}
	return comm.Send(ctx, s.c, s.answer, s.peer, tagAnswer)
}
