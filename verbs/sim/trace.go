package sim

import (
	"fmt"
	"time"
)

// Entry is one line of a trace: a packet that was sent, arrived or was lost,
// or something that happened on a device.
type Entry struct {
	At       time.Duration
	What     string // "sent", "arrived", "lost", or what happened
	Packet   string // kind of packet
	From, To int    // devices; To is -1 for what concerns one device alone
	QP       uint32
	Seq      uint64 // of the request, counted from 0 for each queue pair
	Bytes    int
}

func (e Entry) String() string {
	if e.To < 0 {
		return fmt.Sprintf("%v %d(qp %d): %s %d", e.At, e.From, e.QP, e.What, e.Seq)
	}
	return fmt.Sprintf("%v %d→%d qp %d: %s %s %d, %d bytes", e.At, e.From, e.To, e.QP, e.What, e.Packet, e.Seq, e.Bytes)
}

func (n *Network) trace(what string, p *packet) {
	if n.cfg.Trace == nil {
		return
	}
	e := Entry{At: n.now, What: what, Packet: p.kind.String(), From: p.from.id, To: p.to.id, Seq: p.seq, Bytes: len(p.data)}
	if p.src != nil {
		e.QP = p.src.num
	}
	n.cfg.Trace(e)
}

// note traces what happens on one queue pair.
func (q *queuePair) note(what string, seq uint64) {
	if t := q.dev.net.cfg.Trace; t != nil {
		t(Entry{At: q.dev.net.now, What: what, From: q.dev.id, To: -1, QP: q.num, Seq: seq})
	}
}
