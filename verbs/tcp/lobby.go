package tcp

import (
	"math"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// lobby holds the connections whose other end has not proved anything yet. It bounds
// what strangers can take: places here, each for a short time, and no memory beyond.
// A peer is through within a few round trips; so who wants a place when all are
// taken gets that of someone who has been silent for too long.
type lobby struct {
	limits limits
	clock  func() time.Duration // since the lobby was opened

	mu     sync.Mutex
	guests map[*guest]struct{}
	from   map[netip.Addr]int // guests by source
	change chan struct{}      // closed and replaced when a guest leaves and someone waits
	waits  bool
	thrown uint64 // guests that had to go
}

// limits of a lobby.
type limits struct {
	all    int // guests
	source int // guests from one source
	// How long a guest may be silent before it can be sent away: one that hasn't said
	// anything yet, and one that has. The latter may be a peer on a machine that does
	// much else, and to send those away makes them come again: more work, not less.
	mute, stuck time.Duration
}

var defaultLimits = limits{all: 512, source: 256, mute: 300 * time.Millisecond, stuck: 2 * time.Second}

// guest is a connection in the lobby.
type guest struct {
	net.Conn
	source netip.Addr
	lobby  *lobby
	// until is when it has been silent for too long. Its goroutine stores it, and who
	// looks for a place loads it.
	until atomic.Int64
}

func newLobby(l limits) *lobby {
	start := time.Now()
	return &lobby{
		limits: l, clock: func() time.Duration { return time.Since(start) },
		guests: map[*guest]struct{}{}, from: map[netip.Addr]int{}, change: make(chan struct{}),
	}
}

// Read notes that something has been said.
func (g *guest) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if n > 0 {
		g.until.Store(int64(g.lobby.clock() + g.lobby.limits.stuck))
	}
	return n, err
}

// sourceOf is the address of a connection's other end; in IPv6 a subnet's, of which
// one machine has all addresses.
func sourceOf(a net.Addr) netip.Addr {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := t.AddrPort().Addr().Unmap().WithZone("")
	if ip.Is6() && !ip.IsLinkLocalUnicast() && !ip.IsLoopback() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}

// enter gives c a place. If there is none, wait says how long it takes at most until
// one can be had, and change is closed when one is free; with refused it is c that
// has to go, since its source has more places than any one should.
func (l *lobby) enter(c net.Conn, source netip.Addr) (g *guest, wait time.Duration, change <-chan struct{}, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	switch {
	case l.from[source] >= l.limits.source:
		if l.makeRoom(now, func(g *guest) bool { return g.source == source }) > 0 {
			return nil, 0, nil, true
		}
	case len(l.guests) >= l.limits.all:
		most := 0
		for g := range l.guests {
			most = max(most, l.from[g.source])
		}
		if wait = l.makeRoom(now, func(g *guest) bool { return l.from[g.source] == most }); wait > 0 {
			l.waits = true
			return nil, wait, l.change, false
		}
	}
	g = &guest{Conn: c, source: source, lobby: l}
	g.until.Store(int64(now + l.limits.mute))
	l.guests[g] = struct{}{}
	l.from[source]++
	return g, 0, nil, false
}

// makeRoom sends away the one of these who has been silent for too long since the
// longest time, or returns how long it takes until there is one.
func (l *lobby) makeRoom(now time.Duration, these func(*guest) bool) time.Duration {
	var worst *guest
	for g := range l.guests {
		if these(g) && (worst == nil || g.until.Load() < worst.until.Load()) {
			worst = g
		}
	}
	if worst == nil {
		return l.limits.mute
	}
	if wait := time.Duration(worst.until.Load()) - now; wait > 0 {
		return wait
	}
	l.thrown++
	l.remove(worst)
	_ = worst.Close() // its goroutine finds that out
	return 0
}

// leave gives g's place back. It says no if g has been sent away.
func (l *lobby) leave(g *guest) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.guests[g]; !ok {
		return false
	}
	l.remove(g)
	return true
}

func (l *lobby) remove(g *guest) {
	delete(l.guests, g)
	if l.from[g.source]--; l.from[g.source] == 0 {
		delete(l.from, g.source)
	}
	if l.waits {
		l.waits = false
		close(l.change)
		l.change = make(chan struct{})
	}
}

// throwOut sends somebody away, however short he has been silent: descriptors have run
// out.
func (l *lobby) throwOut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.makeRoom(math.MaxInt64, func(*guest) bool { return true })
}
