package inproc

import (
	"github.com/verbena-mpi/verbena/verbs"
)

// maxSend bounds a message: a slot may be smaller.
const maxSend = 1 << 20

// Device is one rank's.
type Device struct {
	net    *Network
	id     int
	wake   chan struct{} // has room for one
	closed bool
	dead   bool // and not closed since

	cqs     []*completionQueue
	qps     []*queuePair
	conns   map[connKey]*queuePair
	nextQP  uint32
	regions regions
	rnr     uint64 // sends that found no slot at their receiver
}

// Open makes a device.
func (n *Network) Open() *Device {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := &Device{
		net: n, id: len(n.devices), wake: make(chan struct{}, 1),
		conns: make(map[connKey]*queuePair), nextQP: 1, regions: newRegions(),
	}
	n.devices = append(n.devices, d)
	return d
}

// Attr implements verbs.Device.
func (d *Device) Attr() verbs.Attr {
	return verbs.Attr{Name: Name, MaxInline: maxSend, MaxSend: maxSend, MaxRead: 1<<63 - 1}
}

// Addr implements verbs.Device.
func (d *Device) Addr() []byte { return address(d.id) }

// WakeFDs implements verbs.Device: there are none, but see Wake.
func (d *Device) WakeFDs() []int { return nil }

// Wake implements verbs.Waker.
func (d *Device) Wake() <-chan struct{} { return d.wake }

// ring announces an armed event.
func (d *Device) ring() {
	select {
	case d.wake <- struct{}{}:
	default: // it was announced, and nobody has looked yet
	}
}

// Counters implements verbs.Counted.
func (d *Device) Counters(yield func(name string, value uint64) bool) {
	d.net.mu.Lock()
	rnr := d.rnr
	d.net.mu.Unlock()
	yield("rnr", rnr)
}

// Close implements verbs.Device.
func (d *Device) Close() error {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	switch {
	case d.dead:
		d.dead = false
	case d.closed:
		return verbs.ErrClosed
	default:
		d.end(verbs.StatusPeerClosed)
	}
	return nil
}

// Die implements verbs.Mortal.
func (d *Device) Die() {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if !d.closed {
		d.end(verbs.StatusPeerDead)
		d.dead = true
	}
}

// end closes the device; peers see the status.
func (d *Device) end(st verbs.Status) {
	d.closed = true
	for len(d.qps) > 0 {
		d.qps[0].close(st)
	}
	for _, cq := range d.cqs {
		cq.close()
	}
	d.regions = newRegions()
	// Nobody will answer those that wait for it.
	for _, o := range d.net.devices {
		for _, q := range o.qps {
			if q.state == connecting && q.key.peer == d.id {
				q.fail(verbs.StatusRefused)
			}
		}
	}
}
