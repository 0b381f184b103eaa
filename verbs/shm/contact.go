//go:build linux

package shm

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// contact makes connections, and watches them: goroutines that wait on unix
// sockets in Go's poller. They touch nothing of the device but what mu guards;
// what they learn goes to attend, which runs under the caller's lock.
type contact struct {
	listener *net.UnixListener
	wg       sync.WaitGroup

	// Guarded by Device.mu.
	byLabel map[labels]*qp
	changed chan struct{} // closed and replaced when byLabel changes
	conns   map[*net.UnixConn]struct{}
	asked   map[uint32]bool // rings that peers were told of
	linked  map[*qp]bool    // queue pairs that have a connection
	closed  bool
}

// news is what happened to a queue pair's connection.
type news struct {
	qp     *qp
	up     *link
	down   bool
	status verbs.Status
}

const goodbye = 'b'

func (d *Device) listen() error {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: d.id.socket(), Net: "unixpacket"})
	if err != nil {
		return fmt.Errorf("shm: %w", err)
	}
	d.contact = contact{
		listener: l,
		byLabel:  map[labels]*qp{},
		changed:  make(chan struct{}),
		conns:    map[*net.UnixConn]struct{}{},
		asked:    map[uint32]bool{},
		linked:   map[*qp]bool{},
	}
	d.contact.wg.Go(d.accept)
	return nil
}

// Connect implements verbs.QP.
func (q *qp) Connect(peer []byte, local, remote uint32) error {
	a, err := parseAddr(peer)
	if err != nil {
		return err
	}
	if q.state != qpNew {
		return fmt.Errorf("%w: shm: queue pair %d is connected already", verbs.ErrState, q.num)
	}
	d := q.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	l := labels{local, remote}
	if _, ok := d.contact.byLabel[l]; ok {
		return fmt.Errorf("%w: shm: labels %d→%d are in use", verbs.ErrInvalid, local, remote)
	}
	q.labels, q.peer, q.state = l, a, qpConnected
	d.contact.byLabel[l] = q
	close(d.contact.changed)
	d.contact.changed = make(chan struct{})
	return nil
}

func (d *Device) unlabel(q *qp) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.contact.byLabel[q.labels] == q {
		delete(d.contact.byLabel, q.labels)
		delete(d.contact.linked, q)
	}
}

// track notes a connection, so that hangUp can end it. It says no when the
// device is closed.
func (d *Device) track(c *net.UnixConn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.contact.closed {
		return false
	}
	d.contact.conns[c] = struct{}{}
	return true
}

func (d *Device) untrack(c *net.UnixConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.contact.conns, c)
	_ = c.Close()
}

// tell leaves news for attend and wakes the device's owner.
func (d *Device) tell(n news) {
	d.mu.Lock()
	d.news = append(d.news, n)
	d.mu.Unlock()
	d.attention.Store(true)
	d.bell.ring()
}

func (d *Device) accept() {
	for {
		c, err := d.contact.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// No descriptors, most likely. Those that dial have time.
			time.Sleep(time.Millisecond)
			continue
		}
		if !d.track(c) {
			_ = c.Close()
			return
		}
		d.contact.wg.Go(func() {
			defer d.untrack(c)
			if q, l := d.answer(c); l != nil {
				d.watch(c, q, l)
			}
		})
	}
}

// proves says whether the speaker knows this device's token.
func (d *Device) proves(h hello) bool {
	want := d.token.hash()
	return subtle.ConstantTimeCompare(h.Proof[:], want[:]) == 1
}

// answer greets a peer that dialled. A peer that must not connect is told why if
// it proved to be of this job, and else hears nothing.
func (d *Device) answer(c *net.UnixConn) (*qp, *link) {
	_ = c.SetDeadline(time.Now().Add(d.cfg.ConnectTimeout))
	pid, err := peerProcess(c)
	if err != nil {
		return nil, nil
	}
	h, fds, err := receiveHello(c)
	// A refusal is no greeting: nothing else of it has been checked.
	if err != nil || !d.proves(h) || h.Status != refusedNot {
		closeAll(fds)
		return nil, nil
	}
	q, why := d.expected(h)
	if q == nil {
		closeAll(fds)
		r := hello{Magic: segMagic, Version: helloVersion, Status: why, From: d.id}
		_ = sendHello(c, r, nil)
		return nil, nil
	}
	l, err := newLink(c, h, fds, pid, d.cfg.NoSingleCopy)
	if err != nil {
		return nil, nil
	}
	if err := sendHello(c, d.hello(q), []int{d.segFD, d.arena.fd, d.bell.fd}); err != nil {
		l.close()
		return nil, nil
	}
	return q, l
}

// expected finds the queue pair that a greeting is for, and waits for it: the
// peer may be early.
func (d *Device) expected(h hello) (*qp, uint32) {
	if h.Version != helloVersion {
		return nil, refusedVersion
	}
	timer := time.NewTimer(d.cfg.ConnectTimeout / 2)
	defer timer.Stop()
	for {
		d.mu.Lock()
		q, changed, closed := d.contact.byLabel[labels{h.Remote, h.Local}], d.contact.changed, d.contact.closed
		if q != nil && q.peer.ID == h.From {
			d.contact.asked[q.theirs] = true
		}
		d.mu.Unlock()
		if q != nil {
			if q.peer.ID != h.From {
				return nil, refusedDevice
			}
			return q, refusedNot
		}
		if closed {
			return nil, refusedLabel
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, refusedLabel
		}
	}
}

// dial starts a connection.
func (d *Device) dial(q *qp) {
	d.mu.Lock()
	d.contact.asked[q.theirs] = true
	d.mu.Unlock()
	d.contact.wg.Go(func() {
		c, l, status := d.call(q)
		if l == nil {
			d.mu.Lock()
			linked := d.contact.linked[q]
			d.mu.Unlock()
			if !linked { // by the peer's own dial, whose end will tell more
				d.tell(news{qp: q, down: true, status: status})
			}
			return
		}
		defer d.untrack(c)
		d.watch(c, q, l)
	})
}

func (d *Device) call(q *qp) (*net.UnixConn, *link, verbs.Status) {
	dialer := net.Dialer{Timeout: d.cfg.ConnectTimeout}
	conn, err := dialer.Dial("unixpacket", q.peer.ID.socket())
	if err != nil {
		return nil, nil, verbs.StatusRefused
	}
	c := conn.(*net.UnixConn)
	if !d.track(c) {
		_ = c.Close()
		return nil, nil, verbs.StatusFlushed
	}
	l, status := d.greet(c, q)
	if l == nil {
		d.untrack(c)
		return nil, nil, status
	}
	return c, l, status
}

func (d *Device) greet(c *net.UnixConn, q *qp) (*link, verbs.Status) {
	_ = c.SetDeadline(time.Now().Add(d.cfg.ConnectTimeout))
	pid, err := peerProcess(c)
	if err != nil {
		return nil, verbs.StatusRefused
	}
	if err := sendHello(c, d.hello(q), []int{d.segFD, d.arena.fd, d.bell.fd}); err != nil {
		return nil, verbs.StatusRefused
	}
	h, fds, err := receiveHello(c)
	if err != nil {
		closeAll(fds)
		if errors.Is(err, errGoodbye) {
			return nil, verbs.StatusPeerClosed
		}
		return nil, verbs.StatusRefused
	}
	if h.Status != refusedNot || h.Version != helloVersion || !d.proves(h) || h.From != q.peer.ID ||
		h.Local != q.labels.remote || h.Remote != q.labels.local {
		closeAll(fds)
		return nil, verbs.StatusRefused
	}
	l, err := newLink(c, h, fds, pid, d.cfg.NoSingleCopy)
	if err != nil {
		return nil, verbs.StatusRefused
	}
	return l, verbs.StatusOK
}

// watch hands the link over and waits for the connection's end.
func (d *Device) watch(c *net.UnixConn, q *qp, l *link) {
	_ = c.SetDeadline(time.Time{})
	d.mu.Lock()
	second := d.contact.linked[q]
	d.contact.linked[q] = true
	d.mu.Unlock()
	if second {
		// Both sides have dialled. This connection stays open, since its end
		// means the same; but it is no news to wake for.
		l.conn = nil
		l.close()
	} else {
		d.tell(news{qp: q, up: l})
	}
	status := verbs.StatusPeerDead
	var b [1]byte
	for reset := false; ; {
		n, err := c.Read(b[:])
		if n == 1 && b[0] == goodbye {
			status = verbs.StatusPeerClosed
			continue
		}
		if errors.Is(err, unix.ECONNRESET) && !reset {
			// It went without having read all that we sent. The goodbye may
			// still be there: the error is reported before it, and once.
			reset = true
			continue
		}
		if err != nil || n == 0 {
			break
		}
	}
	d.tell(news{qp: q, down: true, status: status})
}

// hangUp ends all connections in good order.
func (d *Device) hangUp() {
	if d.contact.listener == nil {
		return
	}
	d.mu.Lock()
	d.contact.closed = true
	close(d.contact.changed)
	d.contact.changed = make(chan struct{})
	for c := range d.contact.conns {
		_, _ = c.Write([]byte{goodbye})
		_ = c.Close()
	}
	d.mu.Unlock()
	_ = d.contact.listener.Close()
	d.contact.wg.Wait()
	for _, n := range d.news {
		if n.up != nil {
			n.up.close()
		}
	}
	d.news = nil
}

// Die implements verbs.Mortal: the connections end without a goodbye.
func (d *Device) Die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.contact.closed = true
	for c := range d.contact.conns {
		_ = c.Close()
	}
}
