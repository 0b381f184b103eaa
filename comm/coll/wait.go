package coll

import (
	"errors"

	"github.com/verbena-mpi/verbena/comm"
)

// wait waits for all that is in flight. After an error the rest is in flight still,
// until cancel.
//
// A receive hears itself of its peer's failure (see irecv). A send doesn't, and its peer
// may have left the call for good: so beside each send that doesn't leave at once there
// is a receive for that peer's word that it has failed.
func (k *call) wait() error {
	left := 0 // that aren't watches
	for i, n := 0, len(k.requests); i < n; i++ {
		done, err := k.test(i)
		switch {
		case err != nil:
			return err
		case done:
			continue
		case k.steps[i].what == sending:
			k.watch(i)
		}
		left++
	}
	for left > 0 {
		i, status, err := comm.WaitAny(k.ctx, k.requests)
		switch {
		case i < 0:
			return err // the context's, or the world is closed
		case k.steps[i].what == watching && err == nil:
			return k.reason(k.steps[i].peer)
		case k.steps[i].what == watching:
			// The peer is gone, which is none of this call's business if it has its message.
			send := k.steps[i].send
			if k.requests[send] != (comm.Request{}) {
				if done, ended := k.test(send); !done || ended != nil {
					return err
				}
				left--
			}
		default:
			if err := k.completed(i, status, err); err != nil {
				return err
			}
			left--
		}
	}
	return k.unwatch()
}

// test says whether an operation is over, and takes it if it is.
func (k *call) test(i int) (bool, error) {
	status, done, err := k.requests[i].Test()
	if done && k.requests[i] != (comm.Request{}) {
		k.requests[i] = comm.Request{}
		err = k.completed(i, status, err)
	}
	return done, err
}

// completed says what is wrong with a message that is over, if anything is.
func (k *call) completed(i int, status comm.Status, err error) error {
	if s := &k.steps[i]; s.what == receiving {
		return k.received(status, err, s.peer, s.bytes)
	}
	return err
}

// watch posts a receive for the word of a send's receiver that it has failed.
func (k *call) watch(send int) {
	peer := k.steps[send].peer
	q := comm.Irecv[byte](k.c, nil, peer, tagFailed)
	k.requests, k.steps = append(k.requests, q), append(k.steps, step{peer: peer, what: watching, send: send})
}

// unwatch withdraws the watches when all else is complete. One that has heard something
// fails the call, though its own messages are all there: nobody else would hear of it.
func (k *call) unwatch() (failed error) {
	for i, q := range k.requests {
		if q == (comm.Request{}) {
			continue
		}
		q.Cancel()
		if _, err := q.Wait(forever); err == nil && failed == nil {
			failed = k.reason(k.steps[i].peer)
		}
	}
	k.requests, k.steps = k.requests[:0], k.steps[:0]
	return failed
}

// cancel gives up all that is in flight, and returns when nobody uses its memory any
// more: a message that is being taken is waited for.
func (k *call) cancel() {
	for _, q := range k.requests {
		q.Cancel()
	}
	for _, q := range k.requests {
		if _, err := q.Wait(forever); errors.Is(err, comm.ErrClosed) {
			break // nothing moves any more
		}
	}
	k.requests, k.steps = k.requests[:0], k.steps[:0]
}
