package coll

import (
	"context"
	"errors"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// A rank whose call fails tells all others of the communicator, each by a message that
// only its tag says something of, and one with the reason. Whoever waits for it in a
// call of its own hears of that, fails, and tells all others in turn: so nobody waits
// for a rank that waits for a rank that is gone.

// tellLimit is how long a failed call may take to tell the others, and to hear why
// another one's has failed: such messages are on their way at once, unless a rank takes
// nothing at all.
const tellLimit = time.Second

var forever = context.Background()

// reasons are what a rank can say of its failure, by their places in the list.
var reasons = [...]error{
	ErrFailed, // any other
	comm.ErrDied, comm.ErrFinished, comm.ErrUnreachable, comm.ErrProtocol,
	ErrMismatch, ErrLength, ErrOverlap, comm.ErrRank, comm.ErrType, comm.ErrTruncated, comm.ErrShort, comm.ErrClosed,
	context.Canceled, context.DeadlineExceeded,
}

// reason is the second message of a failed call: a place in reasons, and the rank of the
// world that is gone, or nobody.
type reason struct{ why, gone int32 }

const nobody = -1

func reasonOf(err error) reason {
	r := reason{0, nobody}
	if gone := (*comm.PeerError)(nil); errors.As(err, &gone) {
		r.gone = int32(gone.Rank)
	}
	for i, e := range reasons {
		if errors.Is(err, e) {
			r.why = int32(i)
		}
	}
	return r
}

func (r reason) err() error {
	err := ErrFailed
	if r.why >= 0 && int(r.why) < len(reasons) {
		err = reasons[r.why]
	}
	if r.gone != nobody {
		return &comm.PeerError{Rank: int(r.gone), Cause: err}
	}
	return err
}

// tell tells the other ranks that this one's call has failed.
func (k *call) tell(err error) {
	why := []reason{reasonOf(err)}
	var from *RemoteError
	errors.As(err, &from)
	requests := make([]comm.Request, 0, 2*k.size)
	for r := range k.size {
		if r == k.rank || from != nil && r == from.Rank {
			continue
		}
		requests = append(requests, comm.Isend[byte](k.c, nil, r, tagFailed), comm.Isend(k.c, why, r, tagReason))
	}
	ctx, stop := context.WithTimeout(forever, tellLimit)
	defer stop()
	if err := comm.WaitAll(ctx, requests...); err == nil || ctx.Err() == nil {
		return // those that couldn't be told are gone themselves
	}
	for _, q := range requests {
		q.Cancel()
	}
	_ = comm.WaitAll(forever, requests...)
}

// reason is the error of a rank that has said that it failed.
func (k *call) reason(from int) error {
	ctx, stop := context.WithTimeout(forever, tellLimit)
	defer stop()
	why := make([]reason, 1)
	if _, err := comm.Recv(ctx, k.c, why, from, tagReason); err != nil {
		return &RemoteError{Rank: from, Err: ErrFailed}
	}
	return &RemoteError{Rank: from, Err: why[0].err()}
}
