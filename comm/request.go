package comm

import (
	"context"
	"errors"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/match"
	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/rendezvous"
)

// request is an operation in flight. Requests are pooled per world and guarded
// by the engine's lock. The buffer of the operation is kept here, on the heap:
// a device that has only its address would not keep it alive or in its place.
type request struct {
	world *World
	comm  *Comm
	next  *request // in the pool
	gen   uint64   // of the public Request that means this one

	op     string // the call
	peer   int
	tag    int
	buf    []byte
	status Status
	err    error
	done   bool

	on     *progress.Waiter // who waits for it
	waiter progress.Waiter  // for waiting for it alone

	recv  match.Recv[request]
	out   eager.Outgoing
	send  rendezvous.Send
	pull  rendezvous.Pull
	place match.Seq // of the offer that pull reads, in the order of arrival
	from  *peer     // that has offered it
	to    *peer     // of a send

	into   view     // of a receive with a layout
	staged *scratch // what is sent in place of such a buffer, or read
	typing *typing  // where element types are compared
	more   bool     // one of these, to or err is set: put clears them

	inner   bool // see getInner
	offered bool // a send that waits for its receiver: by rendezvous, or to this rank

	probing match.Key   // of a Probe that waits
	claim   bool        // a matched probe: it takes the message itself
	claimed *unexpected // which is nil if it is empty
}

// get takes a request from the pool. The lock is held.
func (w *World) get(c *Comm, op string, peer, tag int, buf []byte) *request {
	if w.pool == nil {
		w.newRequest()
	}
	r := w.pool
	w.pool = r.next
	w.active++
	r.comm, r.op, r.peer, r.tag, r.buf = c, op, peer, tag, buf
	return r
}

// newRequest makes a request, into the pool.
func (w *World) newRequest() {
	r := &request{world: w, gen: 1}
	r.recv.Bind(r)
	r.out.Owner, r.send.Owner, r.pull.Owner = r, r, r
	w.pool = r
	w.requests = append(w.requests, r)
}

// put gives a request back; the public Requests that mean it are over.
func (w *World) put(r *request) {
	if r.more {
		r.clear()
	}
	w.putPlain(r)
}

// putPlain is put of a request that has nothing to clear. It is small enough to be
// inlined.
func (w *World) putPlain(r *request) {
	r.gen++
	r.done = false
	r.buf = nil
	r.next = w.pool
	w.pool = r
	w.active--
}

// clear gives back what most requests don't have.
func (r *request) clear() {
	if r.staged != nil {
		r.world.unpacked(r.staged, r.err)
	}
	r.to, r.into, r.staged, r.typing, r.err, r.more = nil, view{}, nil, nil, nil, false
}

// complete ends an operation. The lock is held.
func (r *request) complete(err error) {
	if r.done {
		return
	}
	r.done = true
	if err != nil {
		r.err, r.more = err, true
	}
	if r.on != nil {
		r.world.eng.Done(r.on)
	}
}

// result is what the operation's caller gets. Without a message its status is the
// zero one; what the request has then is of an earlier use.
func (r *request) result() (Status, error) {
	if r.err == nil {
		return r.status, nil
	}
	return r.failure()
}

// failure is result where there is an error.
func (r *request) failure() (Status, error) {
	var status Status
	if received := new(mismatch); r.err == ErrTruncated || errors.As(r.err, &received) {
		status = r.status
	}
	return status, r.fail(r.err)
}

// fail makes an error of the operation.
func (r *request) fail(err error) error {
	return &Error{Op: r.op, Rank: r.comm.rank, Peer: r.peer, Tag: r.tag, Bytes: r.bytes(), Err: err}
}

// wait waits for r alone. An error is the context's, and r goes on. The lock is
// held when it is called and when it returns.
func (r *request) wait(ctx context.Context) error {
	if r.done {
		return nil
	}
	return r.waitLong(ctx)
}

func (r *request) waitLong(ctx context.Context) error {
	r.waiter.Left = 1
	r.on = &r.waiter
	err := r.world.eng.Wait(ctx, &r.waiter)
	r.on = nil
	if err == nil {
		return nil
	}
	return waitError(err)
}

// waitError is what callers get for an error of the engine's Wait.
func waitError(err error) error {
	if errors.Is(err, progress.ErrClosed) {
		return ErrClosed
	}
	return err
}

// Sent implements eager.Owner.
func (r *request) Sent(ok bool) {
	if !ok {
		r.complete(r.to.gone())
		return
	}
	r.complete(nil)
}

// Offered ends a rendezvous send.
func (r *request) Offered(err error) {
	if err == rendezvous.ErrUnwanted {
		err = errUnwanted
	}
	r.complete(err)
}

// Pulled ends a rendezvous receive.
func (r *request) Pulled(err error) {
	if err == rendezvous.ErrAborted {
		r.world.giveBack(r)
	}
	if err == nil {
		err = r.refuses()
	}
	if err == nil {
		r.pulled()
		if r.status.Bytes > r.bytes() {
			err = ErrTruncated
		}
	}
	if err != nil && errors.Is(err, rendezvous.ErrRead) && r.from.lost != nil {
		err = r.from.lost
	}
	r.complete(err)
}

// Request is an operation that was started by a nonblocking call. It is a small
// value, to be copied freely; the operation's memory is pooled. Wait (or a Test
// that says so) ends it; a request must be ended, once. It may be waited for by one
// goroutine at a time. The zero value is no operation, or one that was ended: in a
// list it is passed over, and waiting for it alone returns at once.
type Request struct {
	r   *request
	gen uint64
}

// sent is the request of a send that was over at once. There is no operation, but
// in a list it counts once, as all do.
func sent() Request { return Request{gen: 1} }

// live returns the operation, or an error if this request was ended already. The
// lock is held.
func (q Request) live() (*request, error) {
	if q.r.gen != q.gen {
		return nil, ErrDone
	}
	if q.r.on != nil {
		return nil, errBusy
	}
	return q.r, nil
}

var errBusy = errors.New("another goroutine is waiting for the request")
