package comm

// Cancel gives an operation up, if it is not too late: a receive that has not
// matched a message, or a send whose receiver has not begun to take it. Wait then
// returns ErrCanceled at once, and the operation has had no effect. If it is too
// late the operation completes, as if Cancel had not been called, and Wait says
// so. Either way Wait must be called. A request that is over is left alone.
//
// A long message that its receiver has begun to read completes; so does one over a
// device on which nobody can tell.
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
	if r.to == nil && w.table.Remove(&r.recv) || r.to != nil && w.withdrawSend(r) {
		r.complete(ErrCanceled)
	}
}
