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
	Device   string // "" in a world of one
	Inline   int    // the inline size that the device granted, bytes; 0 in a world of one
	Settings []Setting
	Counters map[string]uint64 // by name, as docs/PERFORMANCE.md explains them
	Peers    []PeerInfo
}

// Setting is a setting as it is used.
type Setting struct{ Name, Value, Origin string }

// PeerInfo describes a rank.
type PeerInfo struct {
	Rank int
	Host string // "" in a world of one
	Lost error  // why it is gone; nil while it isn't
}

// Info returns a copy of the present state.
func (w *World) Info() Info {
	w.eng.Lock()
	defer w.eng.Unlock()
	i := Info{Version: Version, Rank: w.rank, Size: w.size, Settings: w.settings.list(), Counters: w.counters()}
	for _, p := range w.peers {
		pi := PeerInfo{Rank: p.rank, Host: p.host}
		if p.lost != nil {
			pi.Lost = p.lost
		}
		if p.ep != nil {
			i.Inline = p.ep.Inline()
		}
		i.Peers = append(i.Peers, pi)
	}
	if w.dev != nil {
		i.Device = w.dev.Attr().Name
	}
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
	if w.dev == nil {
		return c
	}
	l, r, q := w.eager.Counters(), w.rndv.Counters(), w.eager.Pool().Counters()
	maps.Copy(c, map[string]uint64{
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
	})
	if d, ok := w.dev.(verbs.Counted); ok {
		for name, v := range d.Counters {
			c["device."+name] = v
		}
	}
	return c
}
