package eager

import (
	"encoding/binary"

	"github.com/verbena-mpi/verbena/verbs"
)

// maxGrant is how many credits a header can carry.
const maxGrant = 1<<16 - 1

// Credits is how many credits this rank gives each peer to begin with. The peer
// must be told, as the last argument of its Endpoint.
func (l *Layer) Credits() int { return l.cfg.Recv.Initial(l.cfg.Recv.Peers) }

// Hold keeps credits from the peer, because too much of what it has sent waits
// here, or lets it have some again. It can still send what it has credits for.
func (ep *Endpoint) Hold(hold bool) {
	ep.account.Stop(hold)
	if ep.account.Low() {
		ep.owe()
	}
}

// owe has the peer get credits at the next poll, if no message has brought it some
// by then.
func (ep *Endpoint) owe() {
	if !ep.owes && !ep.closed {
		ep.owes = true
		ep.layer.eng.Useful()
		ep.later()
	}
}

// pay sends credits that are due. It returns false if they could not be sent.
func (ep *Endpoint) pay() bool {
	if !ep.account.Low() {
		ep.owes = false
		return true
	}
	n := ep.account.Grant(maxGrant)
	if n == 0 {
		return false // slots come back at some poll
	}
	binary.LittleEndian.PutUint64(ep.hdr[:], uint64(Credit)|version<<4|uint64(n)<<16)
	binary.LittleEndian.PutUint64(ep.hdr[8:], 0)
	if !ep.post(ep.hdr[:], nil, verbs.FlagSolicited) {
		ep.account.Back(n)
		return false
	}
	ep.owes = false
	ep.layer.count.Credits++
	return true
}

// got takes credits that came with a message.
func (ep *Endpoint) got(n int) {
	ep.credits += n
	if ep.queue.head != nil {
		ep.later()
	}
}

// keep keeps a slot for the finish of what is about to be offered, if there is one to
// be had. For the first offer there is one in any case; where control messages come
// without slots, for all. An offer must not wait for one: it may be the message that
// its receiver wants before those that hold the others. A finish that finds no slot
// waits at its sender, and is counted there.
func (ep *Endpoint) keep() {
	if !ep.layer.slotless && ep.asked > 0 && ep.recv.Reserve() {
		ep.kept++
	}
}

// unkeep gives back what is reserved for more than the offers that are under way.
func (ep *Endpoint) unkeep() {
	for ; ep.kept > max(ep.asked-1, 0); ep.kept-- {
		ep.recv.Unreserve()
	}
}

// Forgo notes that an offer is over: its finish has come, or won't.
func (ep *Endpoint) Forgo() {
	ep.asked = max(ep.asked-1, 0)
	ep.unkeep()
}

func (ep *Endpoint) closeCredits() {
	ep.account.Close()
	ep.credits, ep.owes = 0, false
	for ; ep.kept > 0; ep.kept-- {
		ep.recv.Unreserve()
	}
}
