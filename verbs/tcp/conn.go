//go:build linux

package tcp

import (
	"bytes"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// stage is where a connection is in its life.
type stage uint8

const (
	stageCandidate stage = iota // the peer has not chosen it yet
	stageLive                   // it is its queue pair's
	stageRail                   // one more, for reads
	stageLeaving                // goodbye is said; what still comes is dropped
	stageOver                   // closed
)

// conn is a connection.
type conn struct {
	dev   *Device
	qp    *qp // nil when leaving
	link  link
	stage stage
	index int32 // in the pollset
	gen   int32
	since time.Time // candidate, leaving
	under int       // bytes under way, when it was last looked at, leaving

	patient bool // it has no time limit, since its peer has no room; guarded by Device.look

	in  inbox
	out outbox
}

// newConn takes a link over.
func (d *Device) newConn(l link) *conn {
	c := &conn{dev: d, link: l, since: time.Now()}
	if s := d.tune.sendBuffer; s != 0 {
		_ = unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, s)
	}
	d.look.Lock()
	defer d.look.Unlock()
	d.poll.add(c)
	if len(d.poll.conns) == len(d.poll.unused)+1 {
		d.stalls.start()
	}
	return c
}

func (c *conn) gone() bool { return c.stage == stageOver }

// shut closes the socket. Nothing of the connection is used afterwards.
func (c *conn) shut() {
	if c.gone() {
		return
	}
	d := c.dev
	c.stage = stageOver
	d.look.Lock()
	d.hot.drop(c)
	d.writing.drop(c)
	d.poll.remove(c)
	_ = c.link.close() // takes it out of the pollset too
	d.leaving = c.outOf(d.leaving)
	d.look.Unlock()
	d.ready = c.outOf(d.ready)
	c.unbind()
}

// unbind takes the connection from its queue pair.
func (c *conn) unbind() {
	if q := c.qp; q != nil {
		q.candidates, q.rails = c.outOf(q.candidates), c.outOf(q.rails)
		q.rq.waiting = c.outOf(q.rq.waiting)
		c.qp = nil
	}
}

func (c *conn) outOf(list []*conn) []*conn {
	return slices.DeleteFunc(list, func(o *conn) bool { return o == c })
}

// leave says goodbye, and closes the socket when that has left and the peer has
// closed its end, or when nothing has moved for a while.
func (c *conn) leave() {
	d := c.dev
	if c.gone() || c.stage == stageLeaving {
		return
	}
	d.look.Lock()
	d.hot.drop(c)
	d.leaving = append(d.leaving, c)
	d.look.Unlock()
	d.ready = c.outOf(d.ready)
	c.unbind()
	c.stage, c.since = stageLeaving, time.Now()
	c.in = inbox{}
	d.writing.mu.Lock()
	if p := &c.out.part; p.region != nil {
		p.mem = bytes.Clone(p.mem)
		d.writing.forget(p)
	}
	h := header{kind: kindBye}
	c.out.put(&h)
	c.out.last = true
	c.wrote(c.ask(c.out.asked | epollIn))
	d.writing.mu.Unlock()
	c.dismiss()
	if d.writing.mu.Lock(); c.out.last && !c.gone() {
		d.writing.unblock(c)
		d.writing.soon(c)
	}
	d.writing.mu.Unlock()
	d.chores.soon(d.cfg.Timeout)
}

// dismissMost bounds how often one call reads from a peer that may not have heard the goodbye,
// or doesn't care.
const dismissMost = 16

// dismiss moves a connection that is leaving, and closes it when it is done.
func (c *conn) dismiss() {
	d := c.dev
	d.writing.mu.Lock()
	d.writing.unblock(c) // as far as is known
	c.farewell()
	failed := c.out.err != nil
	d.writing.mu.Unlock()
	for range dismissMost {
		n, end, err := c.read(d.scrap())
		if end || err != nil || failed {
			c.shut()
			return
		}
		if n == 0 {
			return
		}
	}
}

// underWay is how many bytes that were sent are not at the peer's host yet, or so.
func (c *conn) underWay() int {
	c.dev.writing.mu.Lock()
	n := c.out.size() + c.out.part.size()
	if c.link.unsent() {
		n++
	}
	c.dev.writing.mu.Unlock()
	if k, err := unix.IoctlGetInt(c.link.fd, unix.SIOCOUTQ); err == nil {
		n += k
	}
	return n
}

// scrap is memory for what nobody wants.
func (d *Device) scrap() []byte {
	if d.scratch == nil {
		d.scratch = make([]byte, 64<<10)
	}
	return d.scratch
}

// corrupt ends the queue pair of a peer that writes what it must not write.
func (c *conn) corrupt(err error) {
	if log := c.dev.cfg.Log; log != nil {
		log.WithField("peer", c.link.via).Errorf("tcp: protocol error: %v", err)
	}
	c.dev.count.corrupt++
	if q := c.qp; q != nil && (c.stage == stageLive || c.stage == stageRail || c.stage == stageCandidate) {
		q.fail(verbs.StatusCorrupt)
		return
	}
	c.shut()
}

// ended takes the end of the peer's side of the stream: in good order, or not.
func (c *conn) ended(s verbs.Status) {
	q := c.qp
	switch c.stage {
	case stageLive:
		q.fail(s)
	case stageCandidate:
		c.shut()
		switch {
		case s == verbs.StatusPeerClosed:
			q.fail(s)
		case q.state == qpConnecting && !q.dialed && len(q.candidates) == 0:
			q.dial()
		}
		// Else the peer has chosen another one, which is on its way, or is dead:
		// then the time limit of the connecting says so.
	case stageRail:
		q.railEnded(c, s)
	default:
		c.shut()
	}
}
