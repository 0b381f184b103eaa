package comm

import (
	"errors"
	"fmt"
	"net"
)

// Errors that the calls wrap; test for them with errors.Is. Besides these there are the
// causes of a [PeerError], and those of contexts.
var (
	// Of the message.
	ErrTruncated = errors.New("the message is longer than the buffer")
	ErrShort     = errors.New("the message is shorter than the value")
	ErrType      = errors.New("the element type can't be sent") // or is another than the message's: see Config.CheckTypes

	// Of the arguments.
	ErrRank      = errors.New("no such rank")
	ErrTag       = errors.New("no such tag")
	ErrOption    = errors.New("the option does not fit") // the call, or another option
	ErrLayout    = errors.New("the layout does not fit") // the buffer, or itself
	ErrPartition = errors.New("no such partition")
	ErrGroup     = errors.New("no group")     // of these ranks, or for this communicator
	ErrGrid      = errors.New("no such grid") // for so many ranks, or no such place on it

	// Of a request, or what is started again and again.
	ErrDone     = errors.New("the request was waited for already")
	ErrCanceled = errors.New("the operation was canceled")
	ErrActive   = errors.New("it was started already, and not waited for since")
	ErrInactive = errors.New("it is not started")

	// Of the state of things.
	ErrBuffer  = errors.New("the memory for buffered sends is full")
	ErrFreed   = errors.New("the communicator was freed") // here, or where the receiver is
	ErrClosed  = fmt.Errorf("the world is closed: %w", net.ErrClosed)
	ErrVersion = errors.New("ranks of different versions")
)

// Error says which call failed, and how. It wraps one of the errors above, a
// *PeerError or an error of the context.
type Error struct {
	Op    string // the call: "Send", "Irecv", …
	Rank  int    // this rank
	Peer  int    // the other one, AnySource or ProcNull; -1 if the call has none
	Tag   int
	Bytes int64 // of the buffer
	Err   error
}

func (e *Error) Error() string {
	if e.Peer == noPeer {
		return fmt.Sprintf("comm: rank %d: %s: %v", e.Rank, e.Op, e.Err)
	}
	return fmt.Sprintf("comm: rank %d: %s(peer %s, tag %s, %d B): %v", e.Rank, e.Op, peerName(e.Peer), tagName(e.Tag), e.Bytes, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// noPeer is the Peer of calls that have none.
const noPeer = -1<<30 + 2

func peerName(r int) string {
	switch r {
	case AnySource:
		return "AnySource"
	case ProcNull:
		return "ProcNull"
	}
	return fmt.Sprint(r)
}

func tagName(t int) string {
	if t == AnyTag {
		return "AnyTag"
	}
	return fmt.Sprint(t)
}

// PeerError says that a rank is gone.
type PeerError struct {
	Rank  int
	Host  string
	Cause error
}

func (e *PeerError) Error() string {
	if e.Host == "" {
		return fmt.Sprintf("rank %d is gone: %v", e.Rank, e.Cause)
	}
	return fmt.Sprintf("rank %d on %s is gone: %v", e.Rank, e.Host, e.Cause)
}

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Cause }

// Causes of a PeerError.
var (
	// ErrFinished: the rank closed its world in good order.
	ErrFinished = errors.New("it has finished")
	// ErrDied: its process ended otherwise.
	ErrDied = errors.New("its process has ended without closing its world")
	// ErrUnreachable: no connection to it could be made.
	ErrUnreachable = errors.New("no connection could be made to it")
	// ErrSilent: it doesn't answer any more: a cable is cut, or its host is gone. See
	// Config.PeerTimeout.
	ErrSilent = errors.New("it does not answer any more")
	// ErrProtocol: it sent what it must not send.
	ErrProtocol = errors.New("it sent what it must not send")
)
