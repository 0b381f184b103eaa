//go:build linux

package shm

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// Device is the shared-memory device of one rank.
type Device struct {
	cfg    Config
	id     deviceID
	token  token
	nonce  uint64
	seg    []byte
	segFD  int
	head   *header
	bell   bell
	arena  arena
	used   int // bytes of seg that are given out
	closed bool

	qps     []*qp
	cqs     []*cq
	rqs     []*rq
	lastQP  uint32
	ringUse []bool
	closing []*qp // their peers are gone, and OpClosed is not reported yet

	regions   regions
	reading   []read // reads by this device
	freeRd    []int
	running   []int // reads that are in flight, oldest first
	streaming int   // reads that a peer streams to us
	polls     uint32
	serves    []serve // peers' reads from this device
	chunk     chunks
	round     uint32 // of serveAll
	count     counters

	// work counts serves, and reads that this side moves: what makes Poll
	// worth calling though no message came. Loaded by Pending without the
	// caller's lock.
	work atomic.Int32

	// attention is set when something waits for attend: by the contact
	// goroutines after they appended to news, and by a queue pair that fails.
	// Loaded on every Poll.
	attention atomic.Bool

	contact contact

	mu   sync.Mutex // guards what the contact goroutines share
	news []news
}

// Open makes a device.
func Open(c Config) (*Device, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: c, segFD: -1, bell: bell{fd: -1}}
	if err := d.open(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Device) open() error {
	var b [40]byte
	if _, err := rand.Read(b[:]); err != nil {
		return err
	}
	copy(d.id[:], b[:16])
	copy(d.token[:], b[24:])
	d.nonce = binary.LittleEndian.Uint64(b[16:])
	d.used = align(ringsOff+d.cfg.MaxPeers*ringSize, pageSize)
	size := int64(d.used) + d.cfg.Memory
	size = (size + pageSize - 1) &^ (pageSize - 1)
	var err error
	if d.segFD, err = newSegment("verbena", size); err != nil {
		return err
	}
	if d.seg, err = mapSegment(d.segFD, size, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return err
	}
	d.head = view[header](d.seg, headerOff)
	d.head.magic, d.head.version, d.head.nonce = segMagic, segVersion, d.nonce
	if d.bell.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	d.bell.armed = &d.head.armed
	if err = d.arena.open(d.cfg.AllocMemory); err != nil {
		return err
	}
	d.ringUse = make([]bool, d.cfg.MaxPeers)
	d.regions.init(d.seg)
	d.chunk.init(d.seg)
	d.initReads()
	return d.listen()
}

// Attr implements verbs.Device.
func (d *Device) Attr() verbs.Attr {
	return verbs.Attr{
		Name: "shm", MaxInline: maxSend, InlineRecv: cellMax,
		MaxSend: maxSend, MaxRead: 1<<63 - 1,
	}
}

// WakeFDs implements verbs.Device.
func (d *Device) WakeFDs() []int { return []int{d.bell.fd} }

// Close implements verbs.Device.
func (d *Device) Close() error {
	if d.closed {
		return verbs.ErrClosed
	}
	d.closed = true
	for _, q := range d.qps {
		if q.state != qpClosed {
			q.flush(verbs.StatusFlushed)
			q.state = qpClosed
		}
	}
	d.hangUp()
	if d.regions.table != nil {
		d.regions.closeAll()
	}
	for _, q := range d.qps {
		if q.link != nil {
			q.link.close()
		}
	}
	d.qps, d.serves = nil, nil
	d.work.Store(0)
	d.attention.Store(false)
	for _, c := range d.cqs {
		c.active.Store(new([]*qp)) // their rings are about to go
	}
	if d.segFD >= 0 {
		_ = unix.Close(d.segFD)
	}
	if d.bell.fd >= 0 {
		_ = unix.Close(d.bell.fd)
	}
	d.arena.close()
	if d.seg != nil {
		_ = unix.Munmap(d.seg)
	}
	return nil
}

func (d *Device) freeRing() (int, bool) {
	for i, used := range d.ringUse {
		if !used {
			d.ringUse[i] = true
			return i, true
		}
	}
	return 0, false
}

// forget removes a closed queue pair. Its ring can be used again only if no peer
// ever knew of it: a peer may still write.
func (d *Device) forget(q *qp) {
	q.recvCQ.drop(q)
	d.unlabel(q)
	for i, o := range d.qps {
		if o == q {
			d.qps = append(d.qps[:i], d.qps[i+1:]...)
			break
		}
	}
	q.rq.users--
	d.mu.Lock()
	known := q.link != nil || d.contact.asked[q.theirs]
	d.mu.Unlock()
	if !known {
		d.ringUse[q.theirs-1] = false
	}
	q.rq.reclaim(q.theirs)
	if q.link != nil {
		q.link.leave()
	}
}

// wakeWanting rings at the peers that wait for room.
func (d *Device) wakeWanting() {
	for _, q := range d.qps {
		if q.link != nil && q.rx.ring.want.Load() != 0 && q.rx.ring.want.Swap(0) != 0 {
			q.link.bell.ring()
		}
	}
}
