//go:build ibv && cgo && linux

package ibv

import "github.com/verbena-mpi/verbena/verbs"

// statuses are those of ibv_wc_status, whose numbers are part of the library's
// ABI, that mean the same for every request.
var statuses = map[uint8]verbs.Status{
	0:  verbs.StatusOK,
	5:  verbs.StatusFlushed,
	7:  verbs.StatusCorrupt,      // bad response
	10: verbs.StatusRemoteAccess, // remote access error
	12: verbs.StatusRetry,        // transport retries exceeded
	13: verbs.StatusRetry,        // receiver not ready for too long
	18: verbs.StatusPeerDead,     // remote aborted
}

// statusOf is what a completion's status means in verbs. Receives are posted
// well-formed, so that what goes wrong with one is the message's length: a local
// length error (1) by the book and a local operation error (2) on soft-RoCE; at
// the sender a remote invalid request (9) or a remote operation error (11). What
// has no word in verbs, errors of the local adapter and of local memory, is
// flushed.
func statusOf(op verbs.Op, s uint8) verbs.Status {
	switch {
	case s == 0:
		return verbs.StatusOK
	case op == verbs.OpRecv && (s == 1 || s == 2), op == verbs.OpSend && (s == 9 || s == 11):
		return verbs.StatusTooLong
	case op == verbs.OpRead && (s == 9 || s == 11):
		return verbs.StatusRemoteAccess
	}
	if t, ok := statuses[s]; ok {
		return t
	}
	return verbs.StatusFlushed
}
