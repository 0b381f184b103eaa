//go:build linux

package tcp

import (
	"errors"
	"io"

	"github.com/verbena-mpi/verbena/verbs"
)

// inbox is the receiving half of a connection. It is the driver's: Poll and Pending
// change it, and nobody else while either runs.
//
// What lies before next in the buffer has been taken, what lies from there to filled
// has not. While lent, views of the former are out: until the next Poll of the completion
// queue that got them.
type inbox struct {
	buf          []byte
	next, filled int

	kind kind   // of the payload under way; 0: none
	dst  []byte // where what is missing of it belongs; nil: nowhere
	left int    // what is missing of it
	pad  int    // bytes that follow it
	msg  verbs.Completion
	wake bool   // the message is solicited
	read *read  // that the payload is for
	part uint64 // and its length

	fresh  bool // there is something in the buffer that wasn't looked at
	ready  bool // in the device's list: there is something, but its queue was full
	lent   bool // views are out; in its completion queue's list
	paused bool // for want of a slot
	end    bool // nothing comes any more
}

// read reads into p what there is.
func (c *conn) read(p []byte) (n int, end bool, err error) {
	d := c.dev
	if f := d.tune.part; f != nil {
		p = p[:f(len(p))]
	}
	if c.link.tls == nil {
		return recv(c.link.fd, p)
	}
	d.writing.mu.Lock()
	defer d.writing.mu.Unlock()
	return c.readTLS(p)
}

// makeRoom says how many bytes the buffer has room for, at its end.
func (c *conn) makeRoom() int {
	in, t := &c.in, &c.dev.tune
	if in.buf == nil {
		in.buf = c.dev.buffers.get(t.buffer)
	}
	switch room := len(in.buf) - in.filled; {
	case in.next == in.filled:
		at := in.start(in.left + in.pad)
		if at > len(in.buf) {
			return 0
		}
		in.next, in.filled = at, at
	case !in.lent && in.next >= 8 && room < t.recvMost:
		at := in.next & 7
		n := copy(in.buf[at:], in.buf[in.next:in.filled])
		in.next, in.filled = at, at+n
	}
	return min(len(in.buf)-in.filled, t.recvMost)
}

// start is where in the buffer, of which nothing is taken any more but what is lent,
// the next byte belongs, if a frame begins after so many bytes: at a multiple of 8.
func (in *inbox) start(before int) int {
	if !in.lent {
		return -before & 7
	}
	return in.filled + (-before-in.filled)&7
}

// direct says that what comes next belongs elsewhere, there is none of it here, and it is
// worth a call of its own. Less is read with what follows it, and copied.
func (c *conn) direct() bool {
	in := &c.in
	return in.left > 0 && in.left >= c.dev.tune.directLeast && in.next == in.filled
}

// receive reads what there is and takes it. It says whether there was something.
func (c *conn) receive(s *sink) bool {
	in := &c.in
	if in.paused || in.ready || in.end {
		return false
	}
	if c.direct() {
		return c.receiveBody(s)
	}
	room := c.makeRoom()
	if room == 0 {
		c.againTLS()
		return false // it is lent: the next Poll has some
	}
	n, end, err := c.read(in.buf[in.filled : in.filled+room])
	in.filled += n
	return c.received(n, end || err != nil, s)
}

// received takes what a call has read. The caller has put it where it belongs.
func (c *conn) received(n int, end bool, s *sink) bool {
	in := &c.in
	in.end = end
	c.dev.count.reads++
	if n == 0 && !end {
		return false
	}
	if n > 0 {
		c.againTLS()
	}
	c.parse(s)
	return true
}

// prefetch is receive without the caller's lock: it only fills the buffer. It says
// whether there is something to look at.
func (c *conn) prefetch() bool {
	in := &c.in
	if in.fresh || in.ready || in.end {
		return true
	}
	room := c.makeRoom()
	if room == 0 {
		return true
	}
	n, end, err := c.read(in.buf[in.filled : in.filled+room])
	in.filled += n
	in.end = end || err != nil
	in.fresh = n > 0 || in.end
	c.dev.hot.reads++
	return in.fresh
}

// bodyMost bounds what one call reads of a payload.
const bodyMost = 256 << 10

// bodyTail is how much of what follows a payload is read with it: the next header.
const bodyTail = 64

// receiveBody reads a payload to where it belongs.
func (c *conn) receiveBody(s *sink) bool {
	in, d := &c.in, c.dev
	at := in.start(in.pad)
	if at+bodyTail > len(in.buf) {
		// What is lent stays where it is.
		in.buf, at = make([]byte, len(in.buf)), -in.pad&7
	}
	in.next, in.filled = at, at
	if in.dst == nil {
		p := d.scrap()
		n, end, err := c.read(p[:min(len(p), in.left)])
		in.left -= n
		return c.received(n, end || err != nil, s)
	}
	p := in.dst[:min(in.left, bodyMost)]
	var q []byte
	if len(p) == in.left {
		q = in.buf[at : at+bodyTail]
	}
	n, end, err := c.readTwo(p, q)
	m := min(n, len(p))
	in.dst, in.left = in.dst[m:], in.left-m
	in.filled += n - m
	return c.received(n, end || err != nil, s)
}

func (c *conn) readTwo(p, q []byte) (n int, end bool, err error) {
	d := c.dev
	if c.link.tls != nil || d.tune.part != nil {
		return c.read(p)
	}
	v := &d.hot.vec
	v.add(p)
	v.add(q)
	n, end, err = v.recv(c.link.fd)
	v.clear()
	return n, end, err
}

// again has what has been received looked at by the next poll, without a look at the
// socket.
func (c *conn) again() {
	if !c.in.ready {
		c.in.ready = true
		c.dev.ready = append(c.dev.ready, c)
	}
}

// againTLS is again where a session may have more, of which the socket says nothing.
func (c *conn) againTLS() {
	if c.link.tls != nil {
		c.again()
	}
}

func (c *conn) readTLS(p []byte) (n int, end bool, err error) {
	n, err = c.link.read(p)
	return n, errors.Is(err, io.EOF), err
}

// quiet gives the buffer of a connection back that has nothing, so that those of many
// peers need few. The hot ones keep theirs.
func (c *conn) quiet() {
	in := &c.in
	if in.buf == nil || in.next != in.filled || in.kind != 0 || in.lent || c.dev.hot.has(c) {
		return
	}
	c.dev.buffers.put(in.buf)
	in.buf, in.next, in.filled = nil, 0, 0
}

// buffers are receive buffers that no connection has. The one that was given back last is
// taken first: it is in the cache.
type buffers [][]byte

// maxBuffers is how many are kept.
const maxBuffers = 8

func (b *buffers) get(size int) []byte {
	last := len(*b) - 1
	if last < 0 {
		return make([]byte, size)
	}
	p := (*b)[last]
	*b = (*b)[:last]
	return p
}

func (b *buffers) put(p []byte) {
	if len(*b) < maxBuffers {
		*b = append(*b, p)
	}
}
