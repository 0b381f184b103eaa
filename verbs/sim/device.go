package sim

import (
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Device is a simulated adapter and the process that owns it.
type Device struct {
	net    *Network
	id     int
	cfg    DeviceConfig
	count  counts
	closed bool
	silent bool          // nothing leaves it and nothing reaches it
	busy   time.Duration // until when the owner can't post, for having registered memory

	cqs      []*completionQueue
	qps      []*queuePair
	conns    map[connKey]*queuePair
	regions  map[uint64]*region // by key
	nextQP   uint32
	nextAddr uint64
}

// connKey names a connection as its own end sees it.
type connKey struct {
	peer          int
	local, remote uint32
}

// NewDevice attaches a device. Without a configuration it has the network's.
func (n *Network) NewDevice(cfg ...DeviceConfig) *Device {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.cfg.Device
	if len(cfg) > 0 {
		c = cfg[0]
	}
	d := &Device{
		net:      n,
		id:       len(n.devices),
		cfg:      c.withDefaults(),
		conns:    make(map[connKey]*queuePair),
		regions:  make(map[uint64]*region),
		nextQP:   1,
		nextAddr: pageSize,
	}
	n.devices = append(n.devices, d)
	return d
}

// Attr implements verbs.Device.
func (d *Device) Attr() verbs.Attr {
	return verbs.Attr{
		Name:         "sim",
		MaxInline:    d.cfg.MaxInline,
		InlineRecv:   0,
		MaxSend:      d.cfg.MaxSend,
		MaxRead:      d.cfg.MaxRead,
		Registration: !d.cfg.NoRegistration,
	}
}

// Addr implements verbs.Device.
func (d *Device) Addr() []byte { return address(d.id) }

// WakeFDs implements verbs.Device: there are none, Woken is in their place.
func (d *Device) WakeFDs() []int { return nil }

// Woken says whether an armed event has happened on one of the device's
// completion queues. It stays so until that queue is polled or armed again.
func (d *Device) Woken() bool {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	for _, cq := range d.cqs {
		if cq.fired {
			return true
		}
	}
	return false
}

// Busy is the virtual time until which the device's owner is busy with calls
// that cost time. What it posts before leaves then.
func (d *Device) Busy() time.Duration {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	return d.busy
}

// Close implements verbs.Device.
func (d *Device) Close() error {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.end(verbs.StatusPeerClosed)
	return nil
}

// end takes everything down. Peers see the status.
func (d *Device) end(st verbs.Status) {
	if d.closed {
		return
	}
	d.closed = true
	for _, q := range append([]*queuePair(nil), d.qps...) {
		q.close(st)
	}
	clear(d.regions)
}

// receive takes a packet that has arrived.
func (d *Device) receive(p *packet) {
	switch p.kind {
	case pktConnect, pktAccept, pktNobody:
		d.receiveConnect(p)
		return
	}
	q := p.dst
	if q.state != connected || q.peer != p.src {
		d.net.lose(p) // not connected yet, or not any more
		return
	}
	switch p.kind {
	case pktSend, pktRead, pktNothing:
		q.serveRequest(p)
	case pktAck, pktNoSlot, pktRefused, pktChunk:
		q.takeReply(p)
	case pktCancel:
		q.cancelStream(p.seq)
	case pktBye:
		q.fail(nil, verbs.StatusOK, p.status)
	}
}

func (d *Device) String() string { return fmt.Sprintf("sim device %d", d.id) }
