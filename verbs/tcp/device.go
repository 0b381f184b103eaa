//go:build linux

package tcp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Device is the tcp device of one rank.
type Device struct {
	cfg      Config
	tune     tuning
	contacts *contacts
	poll     pollset
	closed   bool
	dead     bool // by Die

	qps      []*qp
	cqs      []*cq
	labels   map[labels]*qp
	whys     map[*qp]error // why no connection was made
	pairings pairings
	lastQP   uint32
	regions  regions

	turn    uint64  // polls so far
	looker  *cq     // whose polls look at the sockets
	passed  bool    // another queue was polled since
	ready   []*conn // what they have received can be looked at again
	skipped int     // polls that have looked at those, and not at the sockets
	spare   []*conn // the memory of the list before
	owing   []*qp   // have requests that are not complete
	serving []*qp   // have reads of their peers to serve
	buffers buffers
	scratch []byte // takes what nobody wants

	// attention says that attend has something to do: set by the goroutines that
	// are not the caller's, after they have noted it. busy says that a poll moves
	// something although no socket is ready. Both are loaded by Pending without the
	// caller's lock.
	attention atomic.Bool
	busy      atomic.Bool

	// look is held by Pending, which has not the caller's lock, and by whoever closes
	// a socket or the device: Pending reads no descriptor that is another's by then.
	look    sync.Mutex
	hot     hot
	leaving []*conn // have said goodbye; changed with look held

	writing writing

	ctx    context.Context // of dials
	cancel context.CancelFunc
	wg     sync.WaitGroup // dials
	mu     sync.Mutex
	news   []news // guarded by mu
	chores chores
	stalls stalls

	count counters
}

// tuning is what tests change.
type tuning struct {
	inlineRecv  int             // the largest message that is lent from the receive buffer
	buffer      int             // bytes of a receive buffer
	recvMost    int             // bytes of one read into it
	directLeast int             // bytes of a payload that are read to where they belong by a call of their own
	sendBuffer  int             // SO_SNDBUF; 0: the system's
	stallEvery  time.Duration   // between looks for stalls; 0: a part of Config.Timeout
	part        func(n int) int // how many of n bytes one call moves; nil: all
	in          func(func())    // does a dial elsewhere; nil: here
}

// A receive buffer holds a few hundred small messages. What is read into it at once
// bounds what is copied of a message that belongs elsewhere.
var normal = tuning{inlineRecv: 4064, buffer: 48 << 10, recvMost: 20 << 10, directLeast: 2 << 10}

// Open makes a device.
func Open(c Config) (*Device, error) { return open(c, normal) }

func open(c Config, t tuning) (*Device, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: c, tune: t, labels: make(map[labels]*qp), whys: make(map[*qp]error)}
	d.pairings.init()
	d.ctx, d.cancel = context.WithCancel(context.Background())
	if err := d.regions.init(); err != nil {
		return nil, err
	}
	if err := d.poll.open(); err != nil {
		return nil, err
	}
	d.chores.init(d)
	d.stalls.init(d)
	d.writing.init(d)
	if d.contacts, err = newContacts(c, d.pairings.admit, d.take); err != nil {
		d.poll.close()
		return nil, err
	}
	return d, nil
}

// Attr implements verbs.Device.
func (d *Device) Attr() verbs.Attr {
	return verbs.Attr{Name: Name, MaxInline: maxSend, InlineRecv: d.tune.inlineRecv, MaxSend: maxSend, MaxRead: maxRead, SlowLook: true}
}

// Addr implements verbs.Device.
func (d *Device) Addr() []byte { return d.contacts.addr() }

// WakeFDs implements verbs.Device.
func (d *Device) WakeFDs() []int { return []int{d.poll.armed} }

// Die implements verbs.Mortal.
func (d *Device) Die() {
	if d.closed {
		return
	}
	d.dead = true
	d.cancel()
	d.contacts.die()
	// What was sent arrives, as far as there is room for it.
	d.writing.mu.Lock()
	for _, c := range d.poll.conns {
		if c != nil {
			c.flush()
		}
	}
	d.writing.mu.Unlock()
	for _, c := range d.poll.conns {
		if c != nil {
			c.shut()
		}
	}
}

// Close implements verbs.Device.
func (d *Device) Close() error {
	if d.closed {
		return verbs.ErrClosed
	}
	d.cancel()
	d.contacts.close()
	d.wg.Wait()
	d.attend() // links that came until now
	for _, q := range slices.Clone(d.qps) {
		_ = q.Close()
	}
	d.linger()
	d.closed = true
	d.writing.stop()
	d.chores.stop()
	for _, c := range d.poll.conns {
		if c != nil {
			c.shut()
		}
	}
	d.regions.closeAll()
	d.look.Lock()
	defer d.look.Unlock()
	d.stalls.over = true
	d.stalls.timer.Stop()
	d.poll.close()
	return nil
}

// lingerFor is how long Close waits, at least, while nothing of what was sent leaves. In all it
// waits no longer than Config.Timeout: a peer may take little at a time.
const lingerFor = time.Second

// linger waits until what was sent has reached the peers' hosts: closing a socket
// that has something unread would drop it.
func (d *Device) linger() {
	var last int
	limit := time.Now().Add(lingerFor)
	end := time.Now().Add(max(d.cfg.Timeout, lingerFor))
	for wait := 50 * time.Microsecond; !d.dead; wait = min(2*wait, 2*time.Millisecond) {
		bytes := 0
		for _, c := range slices.Clone(d.leaving) {
			if c.dismiss(); !c.gone() {
				bytes += c.underWay()
			}
		}
		if bytes < last {
			limit, wait = time.Now().Add(lingerFor), 50*time.Microsecond
		}
		if now := time.Now(); bytes == 0 || now.After(limit) || now.After(end) {
			return
		}
		last = bytes
		time.Sleep(wait)
	}
}

// news is what the goroutines that make connections have learnt.
type news struct {
	link *link // a connection
	qp   *qp   // or why a dial has failed
	err  error
}

func (d *Device) tell(n news) {
	d.mu.Lock()
	d.news = append(d.news, n)
	d.mu.Unlock()
	d.wake()
}

// take is called for each connection that a peer has made.
func (d *Device) take(l link) { d.tell(news{link: &l}) }

// wake has the next poll attend, and wakes whoever sleeps until then.
func (d *Device) wake() {
	d.attention.Store(true)
	d.poll.ring()
}

// attend does what is rare. It runs under the caller's lock, from Poll.
func (d *Device) attend() {
	d.attention.Store(false) // before the look: what comes later sets it again
	d.poll.silence()
	d.mu.Lock()
	list := d.news
	d.news = nil
	d.mu.Unlock()
	for _, n := range list {
		if n.link != nil {
			d.admit(*n.link)
		} else {
			n.qp.dialFailed(n.err)
		}
	}
	d.expire(time.Now())
}

var errWrongQueue = fmt.Errorf("%w: tcp: a queue pair needs completion and receive queues of its own device", verbs.ErrInvalid)

var (
	_ verbs.Device  = (*Device)(nil)
	_ verbs.Counted = (*Device)(nil)
	_ verbs.Mortal  = (*Device)(nil)
	_ verbs.QP      = (*qp)(nil)
	_ verbs.CQ      = (*cq)(nil)
	_ verbs.RQ      = (*rq)(nil)
	_ verbs.MR      = (*mr)(nil)
)
