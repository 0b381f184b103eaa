package launcher

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// awaitHosts waits until all hosts are as far as they should be.
func (v *supervisor) awaitHosts(limit time.Duration, what string, far func(*host) bool) error {
	t := time.NewTimer(limit)
	defer t.Stop()
	for {
		var missing []string
		for _, h := range v.hosts {
			if !far(h) {
				missing = append(missing, h.name)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		select {
		case e := <-v.agents:
			if err := v.greeted(e); err != nil {
				return err
			}
		case <-t.C:
			return fail(StatusHost, "%s: hasn't %s within %v", someOf(missing), what, limit)
		case o, ok := <-v.orders:
			sig := syscall.Signal(o.Signal)
			switch {
			case !ok || o.Cancel:
				return fail(StatusInternal, "canceled while waiting for %s", someOf(missing))
			case sig != syscall.SIGUSR1 && sig != syscall.SIGUSR2:
				return fail(128+o.Signal, "ended by %s while waiting for %s", signalName(sig), someOf(missing))
			}
		}
	}
}

// someOf names a few.
func someOf(names []string) string {
	const most = 8
	if n := len(names) - most; n > 1 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d hosts more", n))
	}
	return strings.Join(names, ", ")
}

// greeted is what an agent says before all ranks have been started.
func (v *supervisor) greeted(e hostEvent) error {
	h := e.h
	switch m := e.msg; {
	case e.err != nil && h.parent != nil && !h.up && !h.parent.lost:
		return v.startInstead(h, e.err)
	case e.err != nil:
		h.lost = true
		if h.way != nil {
			h.way.stop() // there is nothing that it could end in good order
		}
		return e.err
	case m.Refused != nil:
		return fail(m.Refused.Status, "%s: %s", h.name, m.Refused.Text)
	case m.Ready != nil && h.up, m.Started != nil && (!h.up || h.begun):
		return fail(StatusHost, "%s: its agent says twice, or too early, that it is ready or has started its ranks", h.name)
	case m.Ready != nil && len(m.Ready.Missing) > 0:
		go v.send(h, m.Ready.Missing)
	case m.Ready != nil && len(m.Ready.Where) != len(h.ranks):
		return fail(StatusHost, "%s: its agent is ready for %d ranks of %d", h.name, len(m.Ready.Where), len(h.ranks))
	case m.Ready != nil:
		h.up, h.where = true, m.Ready.Where
		h.way.words.passOn(func(line string) { fmt.Fprintf(v.stderr, "%s: %s\n", h.name, line) })
		for _, c := range v.hosts {
			if c.parent == h {
				spec := v.agentSpec(c)
				go v.connectThrough(h, c, spec)
			}
		}
	case m.Started != nil:
		if len(m.Started) != len(h.ranks) {
			return fail(StatusHost, "%s: its agent has started %d ranks of %d", h.name, len(m.Started), len(h.ranks))
		}
		h.begun = true
		for i, r := range h.ranks {
			r.pid = m.Started[i]
			v.log.Debugf("%v started, %s", r, h.where[i])
		}
	default: // a rank has died, before others were started
		v.early = append(v.early, e)
	}
	return nil
}
