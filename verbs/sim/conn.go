package sim

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// dialing is the state of a connection that is being made. The side that
// starts asks the peer's device for the label, again and again: the other side
// may call Connect later.
type dialing struct {
	tries int
	timer *event
}

// Connect implements verbs.QP.
func (q *queuePair) Connect(peer []byte, local, remote uint32) error {
	id, err := parseAddress(peer)
	if err != nil {
		return fmt.Errorf("%w: %w", verbs.ErrInvalid, err)
	}
	d := q.dev
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if q.state != idle {
		return fmt.Errorf("%w: Connect for the second time", verbs.ErrState)
	}
	key := connKey{peer: id, local: local, remote: remote}
	if d.conns[key] != nil {
		return fmt.Errorf("%w: another queue pair has the labels %d, %d", verbs.ErrInvalid, local, remote)
	}
	q.key, q.state = key, configured
	d.conns[key] = q
	return nil
}

// start begins to connect, at the first PostSend.
func (q *queuePair) start() {
	q.state = connecting
	q.ask()
}

// ask sends a request to connect, and the next one later.
func (q *queuePair) ask() {
	d := q.dev
	if q.dial.tries++; q.dial.tries > d.cfg.ConnectRetries {
		q.fail(nil, verbs.StatusOK, verbs.StatusRefused)
		return
	}
	q.dial.timer = d.net.schedule(d.net.now+d.cfg.ConnectTimer, q.ask)
	to := d.net.device(q.key.peer)
	if to == nil {
		d.net.schedule(d.net.now+2*d.net.cfg.Link.Delay, func() {
			if q.state == connecting {
				q.fail(nil, verbs.StatusOK, verbs.StatusRefused)
			}
		})
		return
	}
	d.net.link(d, to).control(&packet{kind: pktConnect, src: q, local: q.key.local, label: q.key.remote})
}

// receiveConnect takes the packets that make connections.
func (d *Device) receiveConnect(p *packet) {
	if p.kind == pktConnect {
		d.asked(p)
		return
	}
	q := p.dst
	if q.state == failed && p.kind == pktAccept {
		// Too late: tell the peer, which believes in a connection.
		bye := &packet{kind: pktBye, src: q, dst: p.src, status: q.why}
		d.net.link(d, p.from).control(bye)
	}
	if q.state != connecting {
		return
	}
	switch p.kind {
	case pktAccept:
		q.stand(p.src)
	case pktNobody:
		q.fail(nil, verbs.StatusOK, verbs.StatusRefused)
	}
}

// asked answers a request to connect. Where the label is not known, or not
// yet, it doesn't: the other side asks again.
func (d *Device) asked(p *packet) {
	reply := &packet{kind: pktNobody, dst: p.src}
	if !d.closed {
		q := d.conns[connKey{peer: p.from.id, local: p.label, remote: p.local}]
		if q == nil {
			return
		}
		if q.state == configured || q.state == connecting {
			q.stand(p.src)
		}
		if q.peer != p.src {
			return
		}
		reply.kind, reply.src = pktAccept, q
	}
	d.net.link(d, p.from).control(reply)
}

// stand makes the connection stand.
func (q *queuePair) stand(peer *queuePair) {
	q.dial.timer.cancel()
	q.state, q.peer = connected, peer
	q.note("connected", 0)
	q.sq.kick()
}
