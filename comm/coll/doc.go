// Package coll has the collective operations: calls that all ranks of a communicator
// make, and that move or combine what each of them has.
//
//	sum := make([]float64, len(mine))
//	err := coll.Allreduce(ctx, c, mine, sum, coll.Sum)
//
// # What is where
//
// One to all: [Bcast]; a part for each: [Scatter], [Scatterv]. All to one: [Gather],
// [Gatherv]. All to all: [Allgather], [Allgatherv], [Alltoall], [Alltoallv]. Combined:
// [Reduce], [Allreduce], [ReduceScatter], [Scan], [Exscan], with an [Op]: [Sum], [Prod],
// [Min], [Max], [And], [Or], [Xor], or any function of that form. MPI's Barrier is
// [comm.Comm.Barrier].
//
// The forms with a v take a slice for each rank, where MPI's take counts and
// displacements; [Cut] makes one of the other.
//
// # Calls
//
// All ranks of the communicator make the same collective calls in the same order, from
// one goroutine at a time. Different communicators have nothing to do with each other,
// nor have collective messages with those of the program, whatever wildcards it uses:
// they are sent on the communicator's twin ([comm.Comm.Hidden]). A call returns when
// this rank's part is done, which says nothing of the others, and the buffers are the
// program's again.
//
// There are no nonblocking forms: a goroutine makes the call, on a communicator of its
// own. ReduceScatter has blocks of one length only.
//
// Elements are of any type without pointers. In place: what a call would copy may be
// where it belongs already. So in and out of a reduction or of an all-to-all may be the
// same slice, and in of a gather the rank's part of out. It is each rank's own matter.
// Buffers that share memory otherwise are an error, [ErrOverlap].
//
// # When something goes wrong
//
// Errors are [*Error]s. A call whose arguments are wrong, one whose context ends, and one
// that meets the death or the end of a rank, a message of another length (comm.ErrShort,
// comm.ErrTruncated) or of another call ([ErrMismatch]) fails, and tells all other ranks:
// their calls fail with a [*RemoteError] that wraps the cause, as soon as they need what
// can't come any more. So no rank waits for ever, and errors.As finds the
// *comm.PeerError of a death on all ranks. A rank whose part was over before returns no
// error; its next call does.
//
// Calls of different kinds may also let all ranks wait for each other, and no message
// is out of place. That is a deadlock, and reported as any other, with the source lines
// of the calls.
//
// What buffers hold that a call which has failed was to fill is anything, and nobody
// touches them any more. The communicator is good for no further collectives then; for
// all other calls it is. A [comm.Comm.Dup] of it, if all ranks are alive, can do it all.
//
// # Why messages don't mix
//
// The messages of one rank to another arrive in the order in which they were sent. Which
// messages a call exchanges with which rank, and in which order, follows from what all
// ranks know: the call, the root, the size, and the length. A receive takes the next
// message of its peer, whatever its tag. So it is the one that the peer has sent as the
// same step of the same call, even if that was long ago, or it is one that shouldn't be,
// and the tag says so: it has the call, the algorithm and the root.
package coll
