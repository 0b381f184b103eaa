//go:build ibv && cgo && linux

package ibv

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

const (
	dialTime  = 3 * time.Second // for each address of a peer
	greetTime = 10 * time.Second
	writeTime = 10 * time.Second
	endTime   = 2 * time.Second // for the peer to close its half
)

// link is a connection of the exchange with one peer device. It stays: its end is
// how queue pairs that only receive hear of their peer's death. When both devices
// dial there are two: a goodbye on either counts, and without one the end of the
// last.
type link struct {
	dev  *device
	peer deviceID
	kick chan struct{} // holds one: queue or gone has changed

	mu    sync.Mutex
	conn  net.Conn // nil while dialing
	queue []frame
	users map[*queuePair]struct{}
	gone  bool
	why   verbs.Status
}

func (d *device) newLink(peer deviceID, c net.Conn) *link {
	return &link{dev: d, peer: peer, conn: c, kick: make(chan struct{}, 1), users: map[*queuePair]struct{}{}}
}

// linkTo gives the link to a peer that this device dialed, or dials.
func (d *device) linkTo(peer deviceID, at address) *link {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.dialed[peer]
	if l == nil {
		l = d.newLink(peer, nil)
		d.dialed[peer] = l
		d.links[l] = struct{}{}
		d.work.Go(func() { l.dial(at) })
	}
	return l
}

func (l *link) dial(at address) {
	c, err := l.reach(at)
	if err != nil {
		l.end(dialStatus(err))
		return
	}
	l.mu.Lock()
	stop := l.gone
	l.conn = c
	l.mu.Unlock()
	if stop {
		c.Close()
		return
	}
	l.run(c)
}

// reach dials a peer's addresses in turn and greets it.
func (l *link) reach(at address) (net.Conn, error) {
	err := error(syscall.EHOSTUNREACH)
	for _, a := range at {
		ctx, cancel := context.WithTimeout(l.dev.ctx, dialTime)
		dialer := net.Dialer{KeepAliveConfig: keepAlive}
		c, e := dialer.DialContext(ctx, "tcp", a.String())
		cancel()
		if e != nil {
			err = e
			continue
		}
		if e = l.dev.meet(c, true, func() error {
			b := encodeGreeting(l.dev.id, l.peer)
			_, err := c.Write(b[:])
			return err
		}); e == nil {
			return c, nil
		}
		err = e
		c.Close()
	}
	return nil, err
}

func dialStatus(err error) verbs.Status {
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return verbs.StatusRetry
	}
	return verbs.StatusRefused
}

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 4}

// meet proves both ends to each other and greets, within a time limit and not
// beyond the device's Close.
func (d *device) meet(c net.Conn, dialed bool, greet func() error) error {
	stop := context.AfterFunc(d.ctx, func() { c.Close() })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(greetTime))
	if d.cfg.Prove != nil {
		if err := d.cfg.Prove(c, dialed); err != nil {
			return err
		}
	}
	if err := greet(); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

// serve takes a connection that a peer dialed.
func (d *device) serve(c net.Conn) {
	var from, to deviceID
	err := d.meet(c, false, func() (err error) {
		var b [greetLen]byte
		if _, err = io.ReadFull(c, b[:]); err == nil {
			from, to, err = decodeGreeting(&b)
		}
		return err
	})
	if err != nil || to != d.id {
		c.Close()
		return
	}
	l := d.newLink(from, c)
	d.mu.Lock()
	if d.ending {
		d.mu.Unlock()
		c.Close()
		return
	}
	d.links[l] = struct{}{}
	d.mu.Unlock()
	l.run(c)
}

// run reads until the peer closes the connection; a goroutine of its own writes.
// After the link's end it still reads, and believes nothing: to close with bytes
// unread would take the goodbye back that is on its way.
func (l *link) run(c net.Conn) {
	defer c.Close()
	l.dev.work.Go(func() { l.write(c) })
	var b [frameLen]byte
	for {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			l.end(verbs.StatusPeerDead)
			return
		}
		f, err := decodeFrame(&b)
		switch {
		case err != nil:
			l.end(verbs.StatusCorrupt)
			return
		case f.kind == bye:
			l.end(verbs.StatusPeerClosed)
		case l.live():
			l.dev.handle(l, f)
		}
	}
}

func (l *link) live() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.gone
}

// write sends what is queued until the link ends, and what was queued before.
func (l *link) write(c net.Conn) {
	var b []byte
	for range l.kick {
		l.mu.Lock()
		out, gone := l.queue, l.gone
		l.queue = nil
		l.mu.Unlock()
		b = b[:0]
		for i := range out {
			var one [frameLen]byte
			out[i].encode(&one)
			b = append(b, one[:]...)
		}
		_ = c.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := c.Write(b)
		if err != nil || gone {
			if c, ok := c.(*net.TCPConn); ok {
				_ = c.CloseWrite()
			}
			_ = c.SetReadDeadline(time.Now().Add(endTime))
			return
		}
	}
}

// send queues a frame and doesn't wait.
func (l *link) send(f frame) {
	l.mu.Lock()
	if !l.gone {
		l.queue = append(l.queue, f)
	}
	l.mu.Unlock()
	l.wake()
}

func (l *link) wake() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// add lets q hear of the link's end; when that has come, it says why.
func (l *link) add(q *queuePair) (verbs.Status, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.gone {
		l.users[q] = struct{}{}
	}
	return l.why, !l.gone
}

func (l *link) drop(q *queuePair) {
	l.mu.Lock()
	delete(l.users, q)
	l.mu.Unlock()
}

// end breaks everything that lives by the link.
func (l *link) end(why verbs.Status) {
	l.mu.Lock()
	if l.gone {
		l.mu.Unlock()
		return
	}
	l.gone, l.why = true, why
	users := l.users
	l.users = nil
	l.mu.Unlock()
	l.wake()
	l.dev.dropLink(l)
	for q := range users {
		if q.detach(l) || why == verbs.StatusPeerClosed {
			q.fail(why, false)
		}
	}
}

// goodbye ends the link in good order.
func (l *link) goodbye() {
	l.send(frame{kind: bye})
	l.end(verbs.StatusPeerClosed)
}
