package tcp

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
)

// accept takes what comes in, until the contacts are closed.
func (t *contacts) accept() {
	const least, most = 5 * time.Millisecond, time.Second
	pause := least
	for {
		c, err := t.listener.AcceptTCP()
		switch {
		case err == nil:
			pause = least
			t.receive(c)
		case t.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default:
			// No descriptors or no memory, most likely: whoever dials has time.
			t.lobby.throwOut()
			t.logf(logrus.WarnLevel, "tcp: connections have to wait for %v: %v", pause, err)
			if !t.sleep(pause, nil) {
				return
			}
			pause = min(2*pause, most)
		}
	}
}

// sleep says no when the contacts are closed.
func (t *contacts) sleep(d time.Duration, change <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-change:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// receive finds a place for a new connection, and starts the handshake.
func (t *contacts) receive(c *net.TCPConn) {
	if !t.serves(c) {
		t.counts.strangers.Add(1)
		_ = c.Close()
		return
	}
	source := sourceOf(c.RemoteAddr())
	for {
		g, wait, change, refused := t.lobby.enter(c, source)
		if g != nil {
			if !t.start(func() { t.greet(g) }) {
				t.lobby.leave(g)
				_ = c.Close()
			}
			return
		}
		if refused || !t.sleep(wait, change) {
			_ = c.Close()
			return
		}
	}
}

// serves says whether c came in at an address that may serve.
func (t *contacts) serves(c net.Conn) bool {
	ip := addrOf(c.LocalAddr()).Addr().WithZone("")
	if !t.choice.filtered || ip.IsLoopback() && t.choice.loopback {
		return true
	}
	return slices.ContainsFunc(t.choice.at, func(l local) bool { return l.prefix.Addr() == ip })
}

// greet is a handshake with somebody who came.
func (t *contacts) greet(g *guest) {
	defer g.Close() // the descriptor of a link is another one
	stop := context.AfterFunc(t.ctx, func() { _ = g.Close() })
	defer stop()
	defer t.lobby.leave(g)
	_ = g.SetDeadline(time.Now().Add(t.cfg.Timeout / 2))
	m := t.cfg.meet(t.id, g)
	from, err := m.examine()
	if err != nil {
		t.reject(g, err)
		return
	}
	// From here on it is a peer: it isn't sent away, and hears why it is refused.
	if !t.lobby.leave(g) || !stop() {
		return
	}
	_ = g.SetDeadline(time.Now().Add(t.cfg.Timeout))
	ctx, cancel := context.WithTimeout(t.ctx, t.cfg.Timeout*3/4) // the answer still has to arrive
	defer cancel()
	w, err := t.hear(m)
	if err != nil {
		return
	}
	w.from = from
	a := t.decide(ctx, w)
	fd := -1
	if a == answerOK {
		if fd, err = copyFD(g); err != nil {
			a = answerBusy
		}
	}
	if a == answerClosing && t.silent.Load() {
		return
	}
	if err := m.reply(a); err != nil || a != answerOK {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return
	}
	t.counts.accepted.Add(1)
	t.take(t.link(m, w, false, fd))
}

// hear reads a peer's hello. When the contacts are closed it has a moment to come, so
// that it can be answered.
func (t *contacts) hear(m *meeting) (want, error) {
	stop := context.AfterFunc(t.ctx, func() { _ = m.conn.SetDeadline(t.lastMoment()) })
	defer stop()
	return m.hear()
}

// lastMoment is until when a peer can still say what it wants, once the contacts are
// closed.
func (t *contacts) lastMoment() time.Time {
	if t.silent.Load() {
		return time.Unix(1, 0)
	}
	return time.Now().Add(t.cfg.Timeout / 16)
}

func (t *contacts) decide(ctx context.Context, w want) answer {
	if t.ctx.Err() != nil {
		return answerClosing
	}
	select {
	case t.known <- struct{}{}:
	default:
		return answerBusy
	}
	defer func() { <-t.known }()
	a := t.admit(ctx, w)
	if t.ctx.Err() != nil {
		return answerClosing
	}
	return a
}

func (t *contacts) reject(g *guest, err error) {
	t.counts.strangers.Add(1)
	if t.ctx.Err() != nil {
		return
	}
	level := logrus.DebugLevel
	var m mismatch
	if errors.As(err, &m) {
		t.warnOnce.Do(func() { level = logrus.WarnLevel }) // strangers don't fill a log
	}
	t.logf(level, "tcp: a connection from %v is refused: %v", addrOf(g.RemoteAddr()), bare(err))
}
