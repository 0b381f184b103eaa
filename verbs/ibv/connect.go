//go:build ibv && cgo && linux

package ibv

import (
	"net/netip"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// endKey names an end of a connection on its device.
type endKey struct {
	peer          deviceID
	local, remote uint32
}

type address = []netip.AddrPort

// early is a hello that came before Connect.
type early struct {
	from *link
	params
}

// maxEarly bounds what peers may leave before Connect was called here.
const maxEarly = 1 << 16

// Connect only names the other end; but where that one has asked already it is
// answered.
func (q *queuePair) Connect(peer []byte, local, remote uint32) error {
	id, at, err := decodeAddr(peer)
	if err != nil {
		return err
	}
	switch state(q.state.Load()) {
	case idle:
	case closed:
		return verbs.ErrClosed
	default:
		return verbs.ErrState
	}
	q.key, q.at = endKey{id, local, remote}, at
	d := q.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ends[q.key] != nil {
		return verbs.ErrInvalid
	}
	d.ends[q.key] = q
	q.state.Store(uint32(named))
	if e, ok := d.early[q.key]; ok {
		delete(d.early, q.key)
		d.work.Go(func() { q.answer(e.from, e.params) })
	}
	return nil
}

// dial asks the other end, over the one connection to its device.
func (q *queuePair) dial() {
	if q.state.CompareAndSwap(uint32(named), uint32(dialing)) {
		l := q.dev.linkTo(q.key.peer, q.at)
		if q.attach(l) {
			l.send(q.frame(hello))
			time.AfterFunc(q.dev.cfg.patience(), q.giveUp)
		}
	}
}

// giveUp ends what nobody answered.
func (q *queuePair) giveUp() {
	if state(q.state.Load()) == dialing {
		q.fail(verbs.StatusRefused, true)
	}
}

func (q *queuePair) frame(k kind) frame {
	c := &q.dev.adapter.caps
	return frame{kind: k, from: q.key.local, to: q.key.remote, params: params{
		qpn: q.num, psn: q.psn, lid: uint16(c.lid), mtu: uint8(c.mtu),
		reads: uint8(min(int(c.reads_in), 255)), slot: uint32(q.rq.cfg.SlotSize), gid: q.dev.adapter.gid(),
	}}
}

// attach lets q live by l.
func (q *queuePair) attach(l *link) bool {
	q.mu.Lock()
	if !slices.Contains(q.links, l) {
		q.links = append(q.links, l)
	}
	q.mu.Unlock()
	s, ok := l.add(q)
	if !ok && q.detach(l) {
		q.fail(s, false)
	}
	return ok
}

// detach says whether l was the last link that q lived by.
func (q *queuePair) detach(l *link) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.links = slices.DeleteFunc(slices.Clone(q.links), func(k *link) bool { return k == l })
	return len(q.links) == 0
}

// handle takes a frame of the exchange, in the order in which the peer sent them.
func (d *device) handle(l *link, f frame) {
	key := endKey{l.peer, f.to, f.from}
	d.mu.Lock()
	q := d.ends[key]
	if q == nil && f.kind == hello && len(d.early) < maxEarly {
		d.early[key] = early{l, f.params}
	}
	d.mu.Unlock()
	if q == nil {
		return
	}
	switch f.kind {
	case hello:
		q.answer(l, f.params)
	case accept:
		if q.established(f.params) {
			l.send(frame{kind: ready, from: f.to, to: f.from})
			q.opened()
		}
	case ready:
		q.opened()
	case end:
		q.fail(f.status, false)
	}
}

// answer takes the other end's hello: this one can receive from now on, and may
// send when it hears that the other one can, too. When both have asked, both
// answer, and nothing depends on who was first.
func (q *queuePair) answer(l *link, p params) {
	if q.attach(l) && q.established(p) {
		l.send(q.frame(accept))
	}
}

// established takes the queue pair through to ready-to-send, once.
func (q *queuePair) established(p params) bool {
	q.mu.Lock()
	st := state(q.state.Load())
	var err error
	if st == named || st == dialing {
		q.longest = min(int(p.slot), q.dev.attr.MaxSend)
		if err = q.dev.adapter.readyQP(q.h, p, q.psn); err == nil {
			q.dev.half.Add(1)
			if !q.state.CompareAndSwap(uint32(named), uint32(half)) && !q.state.CompareAndSwap(uint32(dialing), uint32(half)) {
				q.dev.half.Add(-1) // closed or broken meanwhile
			}
		}
	}
	q.mu.Unlock()
	if err != nil {
		q.fail(verbs.StatusRefused, true)
		return false
	}
	st = state(q.state.Load())
	return st == half || st == open
}

// opened lets sends go. A message from the peer says it as well as a frame does.
func (q *queuePair) opened() {
	if q.state.CompareAndSwap(uint32(half), uint32(open)) {
		q.dev.half.Add(-1)
		q.scq.hasRoom()
	}
}

// heardFrom takes the arrival of a message for the word that is on its way.
func (d *device) heardFrom(num uint32) {
	d.mu.Lock()
	q := d.byNum[num]
	d.mu.Unlock()
	if q != nil {
		q.opened()
	}
}

// fail breaks the queue pair: what is posted is flushed, and OpClosed follows what
// the peer had sent.
func (q *queuePair) fail(s verbs.Status, tell bool) {
	for {
		st := q.state.Load()
		if state(st) == broken || state(st) == closed {
			return
		}
		if q.state.CompareAndSwap(st, uint32(broken)) {
			if state(st) == half {
				q.dev.half.Add(-1)
			}
			break
		}
	}
	q.mu.Lock()
	if !q.destroyed {
		_ = failQP(q.h)
	}
	links := q.links
	q.mu.Unlock()
	if tell {
		for _, l := range links {
			l.send(frame{kind: end, status: verbs.StatusPeerDead, from: q.key.local, to: q.key.remote})
		}
	}
	q.rcq.note(verbs.Completion{QP: q.num, Slot: verbs.NoSlot, Op: verbs.OpClosed, Status: s})
	q.scq.hasRoom()
}
