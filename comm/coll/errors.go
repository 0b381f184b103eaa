package coll

import (
	"errors"
	"fmt"
)

// Errors that the calls wrap, beside those of package comm; test for them with
// errors.Is.
var (
	// ErrLength: the lengths of a call's buffers don't fit each other.
	ErrLength = errors.New("the lengths of the buffers don't fit")
	// ErrOverlap: buffers share memory in a way that has no meaning.
	ErrOverlap = errors.New("the buffers overlap")
	// ErrMismatch: the ranks make different calls, or the same one with lengths that
	// choose different algorithms.
	ErrMismatch = errors.New("the ranks make different calls")
	// ErrFailed: the call has failed on another rank, for a reason that has no error of
	// its own.
	ErrFailed = errors.New("the call has failed there")
)

// Error says which collective failed, and how. It wraps the *comm.Error of the message
// that couldn't be had, a *RemoteError, or one of the errors above.
type Error struct {
	Op   string // the call: "Bcast", "Allreduce", …
	Rank int    // this rank, in the communicator
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("coll: rank %d: %s: %v", e.Rank, e.Op, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RemoteError says that a collective has failed on another rank first. It wraps the
// cause as that rank had it: a *comm.PeerError for the death or the end of a rank, else
// an error of this package, of package comm or of the context.
type RemoteError struct {
	Rank int // in the communicator
	Err  error
}

func (e *RemoteError) Error() string { return fmt.Sprintf("rank %d gave up: %v", e.Rank, e.Err) }

// Unwrap returns the cause.
func (e *RemoteError) Unwrap() error { return e.Err }
