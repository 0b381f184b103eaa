package tcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/verbs"
)

// contacts makes the connections of a device, in goroutines that wait in Go's
// poller. What comes out are links, which have left it. All of it may be called by
// several goroutines at once.
type contacts struct {
	cfg      Config
	id       deviceID
	host     hostID
	choice   choice
	own      []netip.Addr // all that this machine has, also what doesn't serve
	names    map[netip.Addr]string
	port     uint16
	listener *net.TCPListener
	lobby    *lobby
	known    chan struct{} // has something for each proved peer whose hello isn't answered yet
	admit    func(context.Context, want) answer
	take     func(link)
	ctx      context.Context // ends with the contacts
	cancel   context.CancelFunc
	counts   contactCounts
	silent   atomic.Bool // no goodbyes: set before ctx ends, loaded by handshakes that find that it has
	warnOnce sync.Once   // about programs that can't be talked with

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup // grows only while not closed
}

// contactCounts are for whoever looks at the device's counters.
type contactCounts struct {
	accepted, strangers atomic.Uint64
}

// maxKnown bounds the peers that have proved the secret and wait for an answer.
const maxKnown = 4096

// newContacts listens.
//
// admit is called for each peer that has proved the secret and said what it wants;
// it answers, and may wait for as long as its context lives: the peer may be early.
// After answerOK take gets the link, and with it the descriptor. Both are called from
// goroutines of the contacts', never after close has returned.
func newContacts(c Config, admit func(context.Context, want) answer, take func(link)) (*contacts, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	nics, err := c.nics()
	if err != nil {
		return nil, err
	}
	t := &contacts{
		cfg: c, host: thisHost(), names: map[netip.Addr]string{}, lobby: newLobby(c.limits),
		known: make(chan struct{}, maxKnown), admit: admit, take: take,
	}
	if t.choice, err = choose(nics, c.Net); err != nil {
		return nil, err
	}
	for i := range nics {
		for _, p := range nics[i].at {
			t.own = append(t.own, p.Addr())
			t.names[p.Addr()] = nics[i].name
		}
	}
	_, _ = rand.Read(t.id[:])
	if err := t.listen(); err != nil {
		return nil, err
	}
	for _, it := range t.choice.idle {
		t.logf(logrus.WarnLevel, "tcp: no interface or address here matches %s of the network %q", it, c.Net)
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.work.Go(t.accept)
	return t, nil
}

// listen takes a port of the system's choice, in IPv4 and IPv6, on all addresses:
// those that don't serve are sorted out when a connection comes. The queue of those
// that wait to be accepted is as long as the system allows (somaxconn).
func (t *contacts) listen() error {
	lc := net.ListenConfig{KeepAlive: -1}
	lc.SetMultipathTCP(false) // paths are chosen here, and rails are links of their own
	l, err := lc.Listen(context.Background(), "tcp", ":0")
	if err != nil {
		return fmt.Errorf("tcp: no port to listen on: %w", err)
	}
	t.listener = l.(*net.TCPListener)
	t.port = t.listener.Addr().(*net.TCPAddr).AddrPort().Port()
	raw, err := t.listener.SyscallConn()
	if err == nil {
		err = control(raw, t.cfg.options) // what can't be set on the others is found out now
	}
	if err != nil {
		_ = l.Close()
	}
	return err
}

// addr is what peers need in order to dial: at most 256 bytes.
func (t *contacts) addr() []byte {
	a := deviceAddr{id: t.id, host: t.host, port: t.port}
	for _, l := range t.choice.at {
		a.at = append(a.at, l.place)
	}
	return a.encode()
}

// rails says over how many pairs of interfaces a peer can be reached at once: at
// least one.
func (t *contacts) rails(peer []byte) int {
	a, err := parseAddr(peer)
	if err != nil {
		return 1
	}
	return min(max(len(t.choice.rails(t.own, t.host, &a)), 1), maxRails)
}

// start runs f, unless the contacts are closed.
func (t *contacts) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.work.Go(f)
	}
	return !t.closed
}

// enter is start for the caller's own goroutine, which calls t.work.Done.
func (t *contacts) enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return verbs.ErrClosed
	}
	t.work.Add(1)
	return nil
}

// close ends the handshakes in progress, in good order where the peer is known, and
// waits for everything that runs: so the caller holds nothing that admit or take wait
// for. Links that were taken live on.
func (t *contacts) close() { t.end(false) }

// die is close without a word to anybody.
func (t *contacts) die() { t.end(true) }

func (t *contacts) end(silent bool) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	if silent {
		t.silent.Store(true)
	}
	t.cancel()
	_ = t.listener.Close()
	t.work.Wait()
}

// via describes a connection by its far end and the interface of this one.
func (t *contacts) via(c net.Conn) string {
	far := addrOf(c.RemoteAddr())
	name := t.names[addrOf(c.LocalAddr()).Addr().WithZone("")]
	if name == "" {
		return far.String()
	}
	return far.String() + " over " + name
}

func addrOf(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

func (t *contacts) logf(l logrus.Level, format string, args ...any) {
	if t.cfg.Log != nil && t.cfg.Log.IsLevelEnabled(l) {
		t.cfg.Log.Logf(l, format, args...)
	}
}

// link makes a link of a finished handshake, of whose socket fd is a copy.
func (t *contacts) link(m *meeting, w want, dialed bool, fd int) link {
	l := link{fd: fd, tls: m.tls, peer: w.from, local: w.local, remote: w.remote, rail: w.rail, dialed: dialed, via: t.via(m.conn)}
	_ = m.conn.Close() // so Go's poller forgets the socket, which lives on
	if l.tls != nil {
		l.tls.wire.Conn, l.tls.wire.fd = nil, l.fd
	}
	return l
}
