// Bw measures the bandwidth from rank 0 to rank 1: a window of messages is
// sent without waiting, then answered as a whole.
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
		return harness.Run(ctx, c, harness.Spec{
			Name:   "bw",
			Title:  "OSU MPI Bandwidth Test",
			Metric: harness.Bandwidth,
			OneWay: true,
		}, &stream{c: c, answer: make([]byte, 1)})
	})
}

type stream struct {
	c          *comm.Comm
	send, recv [][]byte // rank 0 has the one, rank 1 the other
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
	if s.c.Rank() == 0 {
		for i, m := range s.send {
			s.requests[i] = comm.Isend(s.c, m, 1, tagData)
		}
		if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, s.c, s.answer, 1, tagAnswer)
		return err
	}
	for i, m := range s.recv {
		s.requests[i] = comm.Irecv(s.c, m, 0, tagData)
	}
	if err := comm.WaitAllInto(ctx, s.requests, s.results); err != nil {
		return err
	}
	return comm.Send(ctx, s.c, s.answer, 0, tagAnswer)
}
