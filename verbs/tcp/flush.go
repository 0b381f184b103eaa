//go:build linux

package tcp

import "golang.org/x/sys/unix"

// What follows runs with writing.mu held.

// flush writes what is queued. It says whether all of it has left. An error is kept:
// that the connection is over is learnt from its other half, when all that has come
// was read.
func (c *conn) flush() bool {
	o, w := &c.out, &c.dev.writing
	if o.err != nil {
		w.discard(c)
		return true
	}
	for o.size() > 0 || o.part.size() > 0 {
		if o.blocked {
			return false
		}
		part := o.part.size()
		queued := min(o.size(), max(maxData-part, 0)) // a call doesn't copy more
		w.vec.add(o.part.hdr)
		w.vec.add(o.part.mem)
		w.vec.add(o.part.pad)
		w.vec.add(o.buf[o.head : o.head+queued])
		n := c.write()
		c.written(n)
		if o.err == nil && n < part+queued {
			c.block()
			return false
		}
	}
	if c.link.unsent() {
		c.wrote(c.link.flush())
		if o.err == nil && c.link.unsent() {
			c.block()
			return false
		}
	}
	return true
}

// farewell is flush, and ends this side of the stream when all of it has left that ever
// will.
func (c *conn) farewell() {
	if c.flush() && c.out.last {
		c.out.last = false
		_ = unix.Shutdown(c.link.fd, unix.SHUT_WR)
	}
}

// wrote takes what a call has said.
func (c *conn) wrote(err error) {
	if err != nil && c.out.err == nil {
		c.out.err = err
		// The other half has an end then too, behind all that has come.
		_ = unix.Shutdown(c.link.fd, unix.SHUT_RDWR)
	}
}

// discard forgets what can't leave any more. Its requests don't complete: they are
// flushed with the queue pair.
func (w *writing) discard(c *conn) {
	w.release(c)
	c.out.buf, c.out.head = nil, 0
}

// write writes writing.vec, as far as there is room.
func (c *conn) write() (n int) {
	d := c.dev
	w := &d.writing
	defer w.vec.clear()
	if c.link.tls == nil && d.tune.part == nil {
		w.calls++
		n, err := w.vec.one(c.link.fd)
		c.wrote(err)
		return n
	}
	for _, p := range w.vec.bufs[:w.vec.n] {
		q := p
		if f := d.tune.part; f != nil {
			q = p[:f(len(p))]
		}
		w.calls++
		m, err := c.link.write(q)
		n += m
		c.wrote(err)
		if m < len(p) {
			break
		}
	}
	return n
}

// written takes account of n bytes that have left.
func (c *conn) written(n int) {
	o, w := &c.out, &c.dev.writing
	if o.err != nil {
		w.discard(c)
		return
	}
	if p := &o.part; p.size() > 0 {
		for _, b := range [...]*[]byte{&p.hdr, &p.mem, &p.pad} {
			m := min(n, len(*b))
			*b, n = (*b)[m:], n-m
		}
		if p.size() > 0 {
			return
		}
		w.release(c)
	}
	o.head += n
	o.left += uint64(n)
	if o.head == len(o.buf) {
		o.buf, o.head = o.buf[:0], 0
		if cap(o.buf) > outKept {
			o.buf = nil
		}
	}
}
