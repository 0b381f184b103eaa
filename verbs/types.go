package verbs

import (
	"errors"
	"fmt"
	"net"
)

// Op is a kind of request or completion.
type Op uint8

// Requests are OpSend and OpRead; completions are any of these.
const (
	OpSend   Op = 1 + iota // a message to the peer's receive queue
	OpRead                 // an RDMA read of the peer's registered memory
	OpRecv                 // a message arrived
	OpLow                  // a receive queue fell below its low-watermark; fires once, armed again by a Repost that crosses it
	OpClosed               // the queue pair's peer is gone; the last completion of its receive side, after all that it had sent
)

var opNames = [...]string{OpSend: "send", OpRead: "read", OpRecv: "recv", OpLow: "low", OpClosed: "closed"}

func (o Op) String() string {
	if int(o) < len(opNames) && opNames[o] != "" {
		return opNames[o]
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// Flags modify a request. A received message comes with WithImm, if it has an
// immediate, and no other flag: adapters don't report them.
type Flags uint8

// Flags of requests.
const (
	Signaled      Flags = 1 << iota // complete with a completion; errors always do
	Inline                          // the bytes are copied before PostSend returns; at most QP.Inline
	FlagSolicited                   // wake a peer that is armed for Solicited
	WithImm                         // Imm travels with the message
)

// Status is how a request ended.
type Status uint8

// Statuses of completions.
const (
	StatusOK           Status = iota
	StatusFlushed             // the queue pair was in, or went into, the error state
	StatusRemoteAccess        // bad key, or outside the registered range
	StatusAborted             // by Abort
	StatusPeerClosed          // the peer closed its device in good order
	StatusPeerDead            // the peer's process is gone
	StatusRefused             // the peer refused the connection, or is not who it should be
	StatusCorrupt             // the peer wrote what it must not have written
	StatusTooLong             // the message is longer than the receiver's slot
	StatusRetry               // the peer did not answer within the retry limit
	StatusDevice              // this side's adapter, or its access to local memory, failed
)

var statusNames = [...]string{
	"ok", "flushed", "remote access error", "aborted", "peer closed", "peer dead",
	"connection refused", "corrupt data from peer", "message longer than the receive slot", "retries exceeded", "device error",
}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Errors of every device. Errors that name values wrap one of these.
var (
	ErrFull      = errors.New("verbs: send queue full")
	ErrInvalid   = errors.New("verbs: invalid argument")
	ErrInline    = fmt.Errorf("%w: longer than the granted inline size", ErrInvalid)
	ErrTooLong   = fmt.Errorf("%w: longer than the device sends", ErrInvalid)
	ErrState     = errors.New("verbs: queue pair is not usable: not connected, or in the error state")
	ErrNoMemory  = errors.New("verbs: out of device memory")
	ErrClosed    = fmt.Errorf("verbs: closed: %w", net.ErrClosed)
	ErrSupported = errors.New("verbs: not supported by this device")
)
