package comm

// An inner request is of the library's own making: the program has not started it,
// and can't wait for it. So it isn't among those that Close finds missing, nor among
// those that a blocked program shows. The lock is held.

func (w *World) getInner(c *Comm, op string, peer, tag int, buf []byte) *request {
	r := w.get(c, op, peer, tag, buf)
	w.active--
	r.inner = true
	return r
}

func (w *World) putInner(r *request) {
	w.active++
	r.inner, r.on = false, nil
	w.put(r)
}
