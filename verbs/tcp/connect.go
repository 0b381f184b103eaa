//go:build linux

package tcp

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Both ends of a queue pair may dial, at the same time. One of them chooses: that with
// the smaller label. It takes the first connection that stands, says hello on it, and
// closes the others. The other end says hello on each, and takes the one on which it
// is answered. Nothing is sent before both hellos are there, so nothing is lost with a
// connection that wasn't chosen, and nobody hears of its end.

// chooses says whether this end chooses.
func (q *qp) chooses() bool {
	if q.labels.local != q.labels.remote {
		return q.labels.local < q.labels.remote
	}
	return bytes.Compare(q.dev.Addr(), q.peer) < 0
}

// Connect implements verbs.QP.
func (q *qp) Connect(peer []byte, local, remote uint32) error {
	d := q.dev
	l := labels{local, remote}
	switch {
	case d.closed || d.dead:
		return verbs.ErrClosed
	case q.state != qpNew:
		return verbs.ErrState
	case d.labels[l] != nil:
		return fmt.Errorf("%w: tcp: labels %d and %d are another queue pair's", verbs.ErrInvalid, local, remote)
	}
	a, err := parseAddr(peer)
	if err != nil {
		return fmt.Errorf("%w: %w", verbs.ErrInvalid, err)
	}
	q.labels, q.peer, q.device, q.state = l, bytes.Clone(peer), a.id, qpConfigured
	d.labels[l] = q
	d.pairings.set(l, pairing{peer: a.id})
	return nil
}

// start makes the connection, unless one is there.
func (q *qp) start() {
	d := q.dev
	q.state, q.since = qpConnecting, time.Now()
	d.chores.soon(d.cfg.Timeout)
	if q.conn == nil && len(q.candidates) == 0 {
		q.dial()
	}
}

func (q *qp) dial() {
	d := q.dev
	ctx, stop := context.WithCancel(d.ctx)
	q.stop, q.dialed = stop, true
	peer, l := q.peer, q.labels
	d.count.dials++
	d.wg.Go(func() {
		defer stop()
		got, err := d.dialTo(ctx, peer, l, 0)
		if err != nil {
			d.tell(news{qp: q, err: err})
			return
		}
		d.take(got)
	})
}

func (d *Device) dialTo(ctx context.Context, peer []byte, l labels, rail int) (got link, err error) {
	dial := func() { got, err = d.contacts.dial(ctx, peer, l.local, l.remote, rail) }
	if d.tune.in != nil {
		d.tune.in(dial)
	} else {
		dial()
	}
	return got, err
}

// dialEnds has what follows the dial take no longer than Config.Timeout. A dial has limits
// of its own, and says why it fails.
func (q *qp) dialEnds() {
	q.stop, q.since = nil, time.Now()
	q.dev.chores.soon(q.dev.cfg.Timeout)
}

// dialFailed takes the end of a dial.
func (q *qp) dialFailed(err error) {
	q.dialEnds()
	if q.state != qpConnecting || q.conn != nil || len(q.candidates) > 0 {
		return // it isn't wanted any more
	}
	if log := q.dev.cfg.Log; log != nil {
		log.Debugf("tcp: queue pair %d to %d: %v", q.labels.local, q.labels.remote, err)
	}
	q.dev.whys[q] = err
	q.fail(statusOf(err))
}

// Why implements verbs.Explainer.
func (q *qp) Why() error { return q.dev.whys[q] }

// maxCandidates bounds the connections of which a peer chooses: it may make one, and this
// end another. More, since it may have broken one off.
const maxCandidates = 8

// admit takes a connection over that stands.
func (d *Device) admit(l link) {
	q := d.labels[labels{l.local, l.remote}]
	switch {
	case d.closed || d.dead:
		_ = l.close()
	case q == nil:
		d.newConn(l).leave() // its end came in between
	case q.state == qpFailed:
		_ = l.close() // the same, but it was no end in good order
	default:
		q.offered(d.newConn(l))
	}
}

// offered takes a connection for this queue pair.
func (q *qp) offered(c *conn) {
	d := q.dev
	if c.link.dialed && c.link.rail == 0 {
		q.dialEnds()
	}
	if c.link.rail != 0 {
		q.addRail(c)
		return
	}
	if q.conn != nil || len(q.candidates) == maxCandidates {
		c.shut() // another one was chosen, or will be
		return
	}
	c.qp, c.since = q, time.Now()
	d.writing.mu.Lock()
	c.wrote(c.ask(epollIn))
	before := len(c.out.buf)
	c.out.buf = hello{uint32(q.rq.slotSize)}.append(c.out.buf)
	c.out.queued += uint64(len(c.out.buf) - before)
	c.flush()
	d.writing.mu.Unlock()
	c.againTLS()
	if q.chooses() {
		q.choose(c)
		return
	}
	c.stage = stageCandidate
	q.candidates = append(q.candidates, c)
	d.chores.soon(d.cfg.Timeout)
}

// choose makes a connection the queue pair's own.
func (q *qp) choose(c *conn) {
	q.candidates = c.outOf(q.candidates)
	c.stage, q.conn = stageLive, c
	for _, o := range slices.Clone(q.candidates) {
		o.shut()
	}
	if q.stop != nil {
		q.stop()
		q.stop = nil
	}
	if log := q.dev.cfg.Log; log != nil {
		log.Debugf("tcp: label %d is connected to %d: %s", q.labels.local, q.labels.remote, c.link.via)
	}
}

// takeHello takes the peer's hello: the queue pair can be used from then on.
func (c *conn) takeHello(h *header) (more bool, err error) {
	in, q := &c.in, c.qp
	if in.filled-in.next < h.size() {
		return false, nil
	}
	o, err := parseHello(in.buf[in.next+headerSize:])
	in.next += h.size()
	switch {
	case err != nil:
		return false, err
	case c.stage == stageCandidate:
		q.choose(c)
	case c.stage != stageLive || q.state == qpReady:
		return false, fmt.Errorf("%w: a second hello", errFrame)
	}
	q.slotSize = int(o.slotSize)
	q.state = qpReady
	if q.sendCQ.armed == verbs.Any {
		q.dev.poll.ring() // there is room
	}
	return true, nil
}
