package coll

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/verbena-mpi/verbena/comm"
)

// step is a message of a call that is in flight.
type step struct {
	peer  int
	what  action
	bytes int64 // of a receive
	send  int   // of a watch: which request it is for
}

type action int

const (
	sending action = iota
	receiving
	watching // for the failure of a rank that a send waits for
)

// isend starts to send to a rank. What has left at once is no request to wait for.
func isend[T any](k *call, buf []T, to int) {
	q := comm.Isend(k.c, buf, to, k.tag)
	k.requests, k.steps = append(k.requests, q), append(k.steps, step{peer: to, what: sending})
}

// irecv starts to receive from a rank exactly as much as buf has room for.
//
// Any tag is taken: the next message of that rank is the one that is due, or it says
// what is wrong: that the rank has failed, or that it makes another call.
func irecv[T any](k *call, buf []T, from int) {
	q := comm.Irecv(k.c, buf, from, comm.AnyTag)
	k.requests, k.steps = append(k.requests, q), append(k.steps, step{peer: from, what: receiving, bytes: bytesOf(buf)})
}

// send sends to a rank, and returns when buf may be used again.
func send[T any](k *call, buf []T, to int) error {
	isend(k, buf, to)
	return k.wait()
}

// recv receives from a rank exactly as much as buf has room for.
func recv[T any](k *call, buf []T, from int) error {
	status, err := comm.Recv(k.ctx, k.c, buf, from, comm.AnyTag)
	return k.received(status, err, from, bytesOf(buf))
}

// exchange sends to one rank and receives from another, or from the same one.
func exchange[T any](k *call, out []T, to int, in []T, from int) error {
	q := comm.Isend(k.c, out, to, k.tag)
	if _, done, err := q.Test(); done {
		if err != nil {
			return err
		}
		return recv(k, in, from)
	}
	irecv(k, in, from)
	k.requests, k.steps = append(k.requests, q), append(k.steps, step{peer: to, what: sending})
	return k.wait()
}

func bytesOf[T any](buf []T) int64 {
	var t T
	return int64(len(buf)) * int64(unsafe.Sizeof(t))
}

// received says whether what came is what was due.
func (k *call) received(s comm.Status, err error, from int, bytes int64) error {
	switch {
	case err != nil && !errors.Is(err, comm.ErrTruncated):
		return err
	case s.Tag == tagFailed:
		return k.reason(from)
	case s.Tag != k.tag:
		return fmt.Errorf("%w: rank %d is in %s, this one in %s", ErrMismatch, from, describe(s.Tag), describe(k.tag))
	case err != nil:
		return err
	case s.Bytes != bytes:
		return fmt.Errorf("%w: %d bytes of rank %d, not %d", comm.ErrShort, s.Bytes, from, bytes)
	}
	return nil
}
