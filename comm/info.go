package comm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/verbena-mpi/verbena/verbs"
)

// Info is what a world is made of and what it has done.
type Info struct {
	Version  string
	Rank     int
	Size     int
	Device   string // those in use, with a comma between; "" in a world of one
	Inline   int    // the smallest inline size that a device granted, bytes; 0 in a world of one
	Settings []Setting
	Counters map[string]uint64 // by name, as docs/PERFORMANCE.md explains them
	Peers    []PeerInfo
}

// Setting is a setting as it is used.
type Setting struct{ Name, Value, Origin string }

// PeerInfo describes a rank, as far as it is known when it is asked for.
type PeerInfo struct {
	Rank     int
	Host     string // its name; "" in a world of one
	SameHost bool   // it can share memory with this rank, whatever the names of hosts
	Device   string // that leads to it; "self" for this rank
	Lost     error  // why it is gone; nil while it isn't

	// Connected: there is a connection to it. They are made at the first message, and
	// what follows isn't known before.
	Connected bool
	// SingleCopy: large messages from it can be read from its memory without a copy in
	// between, since the system allows it.
	SingleCopy bool
	// Way is how large messages from it come at present: "stream" or "copy" (a single
	// copy) in shared memory, "auto" while that is being found out; "" if the device
	// has no choice. Messages in memory from Alloc are read directly.
	Way string
}

// info describes a rank. The lock is held.
func (w *World) info(p *peer) PeerInfo {
	i := PeerInfo{Rank: p.rank, Host: p.host, SameHost: p.near, Device: "self"}
	if p.lost != nil {
		i.Lost = p.lost
	}
	if p.ep == nil {
		return i
	}
	i.Device = p.via.kind.name
	if q, ok := p.ep.QP().(verbs.Reader); ok {
		var r verbs.Reading
		r, i.Connected = q.Reading()
		i.SingleCopy, i.Way = r.SingleCopy, r.Way
	}
	return i
}

// Info returns a copy of the present state.
func (w *World) Info() Info {
	w.eng.Lock()
	defer w.eng.Unlock()
	i := Info{Version: Version, Rank: w.rank, Size: w.size, Settings: w.settings.list(), Counters: w.counters()}
	for _, p := range w.peers {
		if p.ep != nil && (i.Inline == 0 || p.ep.Inline() < i.Inline) {
			i.Inline = p.ep.Inline()
		}
		i.Peers = append(i.Peers, w.info(p))
	}
	var names []string
	for _, t := range w.transports {
		names = append(names, t.kind.name)
	}
	i.Device = strings.Join(names, ",")
	return i
}

// counted is a line of the counters that are not 0.
func counted(counters map[string]uint64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if n := counters[name]; n != 0 {
			fmt.Fprintf(&b, " %s=%d", name, n)
		}
	}
	return strings.TrimPrefix(b.String(), " ")
}

func (w *World) counters() map[string]uint64 {
	e := w.eng.Counters()
	c := map[string]uint64{
		"poll.recv":             e.RecvPolls,
		"poll.recv.skipped":     e.SkippedPolls,
		"poll.send":             e.SendPolls,
		"wait.parks":            e.Parks,
		"wait.handovers":        e.HandOvers,
		"wait.sleeps":           e.Sleeps,
		"wait.background":       e.BackgroundSleeps,
		"alloc.ordinary":        w.count.OrdinaryAllocs,
		"unexpected.messages":   w.count.Unexpected,
		"unexpected.dropped":    w.count.Dropped,
		"unexpected.bytes.held": uint64(w.unexpectedBytes),
	}
	for _, t := range w.transports {
		t.addCounters(c)
	}
	return c
}

// addCounters adds what the transport has counted. What devices count has their own
// names, so that mostly one device alone counts a thing.
func (t *transport) addCounters(c map[string]uint64) {
	l, r, q := t.eager.Counters(), t.rndv.Counters(), t.eager.Pool().Counters()
	for name, n := range map[string]uint64{
		"eager.inline":    l.Inline,
		"eager.bounced":   l.Bounced,
		"eager.queued":    l.Queued,
		"eager.starved":   l.Starved,
		"eager.credits":   l.Credits,
		"eager.signaled":  l.Signaled,
		"eager.malformed": l.Malformed,
		"rndv.offers":     r.Offers,
		"rndv.pulls":      r.Pulls,
		"rndv.finishes":   r.Finishes,
		"rndv.withdrawn":  r.Withdrawn,

		"rndv.reg.hits":      r.RegHits,
		"rndv.reg.misses":    r.RegMisses,
		"rndv.reg.evictions": r.RegEvictions,

		"slots.released": q.Released,
		"slots.reposts":  q.Reposts,
		"slots.low":      q.Lows,
	} {
		c[name] += n
	}
	if d, ok := t.dev.(verbs.Counted); ok {
		for name, n := range d.Counters {
			c["device."+name] += n
		}
	}
}
