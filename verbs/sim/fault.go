package sim

import (
	"maps"

	"github.com/verbena-mpi/verbena/verbs"
)

// Silence cuts a device off, or back on: nothing that it sends arrives, and
// nothing reaches it. Peers with something posted find out by their retry
// limit (StatusRetry); peers with nothing posted don't.
func (n *Network) Silence(d *Device, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d.silent = on
}

// Kill ends a device as the death of its process does where somebody notices:
// connected peers see StatusPeerDead as soon as the news has travelled. What
// had left before arrives. The device takes no requests from now on.
func (n *Network) Kill(d *Device) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d.end(verbs.StatusPeerDead)
}

// FailRequest makes the n-th request of a queue pair, counted from 1 and from
// its beginning, end with a status in place of being sent.
func (d *Device) FailRequest(qp uint32, n uint64, st verbs.Status) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	for _, q := range d.qps {
		if q.num == qp {
			inject := map[uint64]verbs.Status{n - 1: st}
			maps.Copy(inject, q.sq.inject)
			q.sq.inject = inject
		}
	}
}
