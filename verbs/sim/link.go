package sim

import (
	"time"
)

// link carries the packets of one direction between two devices. What has much
// to send takes turns on it: a talker sends one packet and queues again.
type link struct {
	net      *Network
	from, to *Device
	cfg      Link
	free     time.Duration // when the wire is free
	last     time.Duration // arrival of the last packet
	waiting  []talker
	serving  bool // a serve event is scheduled
}

// talker sends one packet when its turn comes, and says whether it has more.
type talker interface {
	talk(l *link) (more bool)
	// queued remembers whether the talker waits in a link's queue.
	queued() *bool
}

// link is the link between two devices, made at first use.
func (n *Network) link(from, to *Device) *link {
	key := [2]int{from.id, to.id}
	l := n.links[key]
	if l == nil {
		l = &link{net: n, from: from, to: to, cfg: n.cfg.Link}
		n.links[key] = l
	}
	return l
}

// SetLink changes the link from one device to another, for the packets that
// leave from now on.
func (n *Network) SetLink(from, to *Device, cfg Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link(from, to).cfg = cfg
}

// want queues a talker for its turn.
func (l *link) want(t talker) {
	if q := t.queued(); !*q {
		*q = true
		l.waiting = append(l.waiting, t)
		l.serve()
	}
}

// serve schedules the next turn.
func (l *link) serve() {
	if l.serving || len(l.waiting) == 0 {
		return
	}
	l.serving = true
	l.net.schedule(max(l.free, l.net.now), func() {
		l.serving = false
		t := l.waiting[0]
		l.waiting = l.waiting[1:]
		*t.queued() = false
		if t.talk(l) {
			l.want(t)
		}
		l.serve()
	})
}

// occupy sends a packet that takes its time on the wire.
func (l *link) occupy(p *packet) {
	start := max(l.free, l.net.now)
	l.free = start
	if l.cfg.Bandwidth > 0 {
		l.free += time.Duration(int64(headerLen+len(p.data)) * int64(time.Second) / l.cfg.Bandwidth)
	}
	l.carry(p, l.free)
}

// control sends a packet that is too short to take time, behind what is on the
// wire.
func (l *link) control(p *packet) { l.carry(p, max(l.free, l.net.now)) }

// carry brings a packet that departs at a time to the other end, or loses it.
func (l *link) carry(p *packet, depart time.Duration) {
	p.from, p.to = l.from, l.to
	l.net.trace("sent", p)
	arrive := depart + l.cfg.Delay
	if l.cfg.Jitter > 0 {
		arrive += time.Duration(l.net.rng.Int64N(int64(l.cfg.Jitter) + 1))
	}
	arrive = max(arrive, l.last)
	l.last = arrive
	lost := l.from.silent || p.mayBeLost() && l.cfg.Loss > 0 && l.net.rng.Float64() < l.cfg.Loss
	l.net.schedule(arrive, func() {
		if lost || l.to.silent {
			l.net.trace("lost", p)
			l.net.lose(p)
			return
		}
		l.net.trace("arrived", p)
		l.to.receive(p)
	})
}
