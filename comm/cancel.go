package comm

// Cancel gives an operation up, if it is not too late: a receive that has not
// matched a message, or a send whose receiver has not matched it. Wait then returns
// ErrCanceled, and the operation has had no effect. If it is too late the operation
// completes, as if Cancel had not been called, and Wait says so. Either way Wait must be
// called. A request that is over is left alone.
//
// Within a host that is decided at once. Between hosts the receiver of a long message is
// asked, so Wait may take as long as it takes that rank to answer: it does so in its
// calls, and some milliseconds after it has begun to compute.
func (q Request) Cancel() {
	if q.r == nil {
		return
	}
	w := q.r.world
	w.eng.Lock()
	defer w.eng.Unlock()
	r := q.r
	if r.gen != q.gen || r.done {
		return
	}
	if r.to == nil && w.table.Remove(&r.recv) || r.to != nil && w.withdrawSend(r, ErrCanceled) {
		r.complete(ErrCanceled)
	}
}
