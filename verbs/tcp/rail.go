//go:build linux

package tcp

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// Where two hosts have several pairs of addresses, a queue pair has further connections,
// its rails. They carry nothing but parts of large reads, each by whichever connection has
// room: so nothing that has an order goes over them.

// railFrom is how large a read must be, in bytes, to make rails worth while.
const railFrom = 1 << 20

// dialRails makes the further connections. What becomes of them nobody has to know: a rail
// that isn't there isn't used.
func (q *qp) dialRails() {
	d := q.dev
	q.railed = true
	peer, l := q.peer, q.labels
	for rail := 1; rail < d.contacts.rails(peer); rail++ {
		d.count.dials++
		d.wg.Go(func() {
			got, err := d.dialTo(d.ctx, peer, l, rail)
			if err == nil {
				d.take(got)
			} else if log := d.cfg.Log; log != nil {
				log.Debugf("tcp: rail %d of queue pair %d to %d: %v", rail, l.local, l.remote, err)
			}
		})
	}
}

// addRail takes a further connection. Both ends may have dialed: then there are two.
func (q *qp) addRail(c *conn) {
	c.qp, c.stage = q, stageRail
	q.railed = true
	q.rails = append(q.rails, c)
	if len(q.rails) > 2*maxRails {
		c.corrupt(fmt.Errorf("%w: more than %d rails", errFrame, 2*maxRails))
		return
	}
	q.dev.writing.mu.Lock()
	c.wrote(c.ask(epollIn))
	q.dev.writing.mu.Unlock()
	c.againTLS()
}

// railEnded takes the end of a rail. Parts may be lost with it; which, nobody knows. So if
// reads are under way the queue pair ends too, behind what its own connection has brought.
func (q *qp) railEnded(c *conn, s verbs.Status) {
	c.shut()
	if main := q.conn; main != nil && s != verbs.StatusPeerClosed && q.reads.open > 0 {
		_ = unix.Shutdown(main.link.fd, unix.SHUT_RDWR)
	}
}

// ways goes through the connections by which parts of reads can leave.
func (q *qp) ways() func(yield func(int, *conn) bool) {
	return func(yield func(int, *conn) bool) {
		if q.conn == nil || !yield(0, q.conn) {
			return
		}
		for i, c := range q.rails {
			if !yield(i+1, c) {
				return
			}
		}
	}
}
