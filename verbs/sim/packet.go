package sim

import "github.com/verbena-mpi/verbena/verbs"

// kind is what a packet is.
type kind uint8

const (
	// Requests, in the order of a send queue.
	pktSend kind = iota
	pktRead
	pktNothing // stands for a request that was aborted, so that the order has no gap
	// Replies, in the order of the requests.
	pktAck
	pktNoSlot
	pktRefused
	pktChunk
	// What has no order of its own.
	pktCancel // the requester wants no more of a read
	pktBye    // a queue pair ends, with a status for the peer
	pktConnect
	pktAccept
	pktNobody // there is no such device
)

var kindNames = [...]string{
	"send", "read", "nothing", "ack", "no slot", "refused", "chunk", "cancel", "bye", "connect", "accept", "nobody",
}

func (k kind) String() string { return kindNames[k] }

// headerLen is what a packet takes on the wire besides its data, in bytes.
const headerLen = 48

// packet is what travels between two devices.
type packet struct {
	kind     kind
	from, to *Device
	src, dst *queuePair // nil where the peer is not known yet
	seq      uint64     // of the request
	try      uint32     // which transmission of it; replies name it
	data     []byte     // was copied when the packet left
	off      int        // of a chunk, in the local memory
	length   int        // of a read
	imm      uint32
	flags    verbs.Flags
	remote   verbs.Remote
	status   verbs.Status
	local    uint32 // labels, as the sender of the packet sees them
	label    uint32
}

// requester is the queue pair whose request a packet belongs to, or nil.
func (p *packet) requester() *queuePair {
	switch p.kind {
	case pktSend, pktRead, pktNothing:
		return p.src
	case pktAck, pktNoSlot, pktRefused, pktChunk:
		return p.dst
	}
	return nil
}

// mayBeLost says whether somebody sends the packet again when a link loses it.
// News of an end is brought by other means, on real networks too.
func (p *packet) mayBeLost() bool { return p.kind != pktBye && p.kind != pktCancel }
