//go:build linux

package tcp

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// serve is a read by the peer, from this device's memory.
type serve struct {
	name   uint32
	region *region
	mem    []byte
	off    int
	status verbs.Status // not OK: nothing more is sent but this
}

// maxServes bounds the reads of one peer.
const maxServes = 4 * maxReads

// asked takes the peer's request for memory. It is served by this poll, and the next
// ones.
func (q *qp) asked(name uint32, r request) error {
	if len(q.serves) == maxServes {
		return fmt.Errorf("%w: more than %d reads at once", errFrame, maxServes)
	}
	d := q.dev
	v := serve{name: name}
	if v.region, v.mem = d.regions.find(r); v.region == nil {
		v.status = verbs.StatusRemoteAccess
		d.count.refused++
	} else {
		d.writing.mu.Lock()
		v.region.uses++
		d.writing.mu.Unlock()
		d.count.serves++
	}
	q.serves = append(q.serves, v)
	if !q.served {
		q.served = true
		d.serving = append(d.serving, q)
	}
	return nil
}

// canceled takes the peer's word that it wants no more of a read. It is told when
// nothing more comes, so that it can use the name again.
func (q *qp) canceled(name uint32) {
	q.dev.writing.mu.Lock()
	defer q.dev.writing.mu.Unlock()
	for i := range q.serves {
		if v := &q.serves[i]; v.name == name && v.status == verbs.StatusOK {
			v.refuse(verbs.StatusAborted)
		}
	}
}

// refuseAll ends the reads from a region that is being closed.
func (q *qp) refuseAll(g *region) {
	for i := range q.serves {
		if v := &q.serves[i]; v.region == g {
			v.refuse(verbs.StatusRemoteAccess)
			q.dev.count.refused++
		}
	}
}

// refuse sends nothing more of the memory. The lock of the outboxes is held.
func (v *serve) refuse(s verbs.Status) {
	v.region.uses--
	v.region, v.mem, v.status = nil, nil, s
}

// forget says that what is under way is not of registered memory any more.
func (w *writing) forget(p *part) {
	p.region.uses--
	p.region = nil
}

// stopServing ends all reads of the peer.
func (q *qp) stopServing() {
	q.dev.writing.mu.Lock()
	defer q.dev.writing.mu.Unlock()
	for i := range q.serves {
		if v := &q.serves[i]; v.region != nil {
			v.refuse(verbs.StatusFlushed)
		}
	}
	q.serves = nil
}

// serveMost is how much is written to one connection by one poll.
const serveMost = maxData

// serve sends parts of what peers read.
func (d *Device) serve() {
	d.writing.mu.Lock()
	defer d.writing.mu.Unlock()
	kept := d.serving[:0]
	for _, q := range d.serving {
		for _, c := range q.ways() {
			for sent := 0; sent < serveMost && len(q.serves) > 0; {
				n, ok := q.serveOne(c)
				if !ok {
					break
				}
				sent += n
			}
		}
		if q.served = len(q.serves) > 0; q.served {
			kept = append(kept, q)
		}
	}
	clear(d.serving[len(kept):])
	d.serving = kept
}

// serveOne sends one part, of each read in turn, or the end of one, behind what is
// queued. It says no if there is no room.
func (q *qp) serveOne(c *conn) (n int, ok bool) {
	if c.out.size() > 0 && !c.flush() || c.out.blocked {
		return 0, false
	}
	if !q.nextFor(c) {
		return 0, false
	}
	v := &q.serves[q.turn]
	if v.status != verbs.StatusOK {
		h := header{kind: kindEnd, flags: uint8(v.status), word: uint64(v.name)<<offsetBits | uint64(v.off)}
		c.out.put(&h)
		q.unserve(q.turn)
		return headerSize, c.flush()
	}
	n = min(maxData, len(v.mem)-v.off)
	h := header{kind: kindData, length: uint32(n), word: uint64(v.name)<<offsetBits | uint64(v.off)}
	p := &c.out.part
	p.hdr = h.append(p.store[:0])
	p.mem = v.mem[v.off : v.off+n]
	p.pad = zeros[:align8(n)-n]
	p.region = v.region
	p.region.uses++
	v.off += n
	q.dev.count.servedBytes += uint64(n)
	if c.stage == stageRail {
		q.dev.count.railBytes += uint64(n)
	}
	if v.off == len(v.mem) {
		v.region.uses--
		q.unserve(q.turn)
	} else {
		q.turn++
	}
	return n, c.flush()
}

// nextFor finds the read whose turn it is, for a connection: no end leaves by a rail.
func (q *qp) nextFor(c *conn) bool {
	for range q.serves {
		if q.turn >= len(q.serves) {
			q.turn = 0
		}
		if c.stage != stageRail || q.serves[q.turn].status == verbs.StatusOK {
			return true
		}
		q.turn++
	}
	return false
}

// unserve forgets a read that is over.
func (q *qp) unserve(i int) {
	last := len(q.serves) - 1
	copy(q.serves[i:], q.serves[i+1:])
	q.serves[last] = serve{}
	q.serves = q.serves[:last]
}

// canServe says whether a read can be served although no socket says so.
func (d *Device) canServe() bool {
	d.writing.mu.Lock()
	defer d.writing.mu.Unlock()
	for _, q := range d.serving {
		for _, c := range q.ways() {
			if !c.out.blocked && q.nextFor(c) {
				return true
			}
		}
	}
	return false
}
