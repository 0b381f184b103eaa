package launcher

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"
)

// newHosts makes the other hosts that have ranks, and says for each which one
// starts it.
func (v *supervisor) newHosts() {
	for _, i := range v.spec.Plan.remote() {
		h := &host{Host: v.spec.Plan.Hosts[i], orders: make(chan toAgent, orderRoom), calls: map[int]*way{}}
		h.name = hostName(h.Host)
		for _, rank := range v.spec.Plan.ranksOn(i) {
			v.ranks[rank].host = h
			h.ranks = append(h.ranks, v.ranks[rank])
		}
		v.hosts = append(v.hosts, h)
	}
	if v.spec.Input.reaches(0) && v.ranks[0].host != nil {
		v.prompts = terminal(os.Stdin) && terminal(os.Stdout)
	}
	for i, h := range v.hosts {
		if p := i/v.spec.FanOut - 1; p >= 0 {
			h.parent = v.hosts[p]
		}
	}
}

// agentSpec is what the agent of a host is to do.
func (v *supervisor) agentSpec(h *host) *agentSpec {
	s := &agentSpec{
		Host: h.name, Index: slices.Index(v.hosts, h), Job: v.name, Size: len(v.ranks), Bind: v.spec.Bind, Account: h.User != "",
		Umask: umask(), Verbose: v.spec.Verbose, Return: v.returns(), Files: v.sent,
	}
	for _, r := range h.ranks {
		s.Ranks = append(s.Ranks, agentRank{ID: r.id, Part: r.app, Input: v.spec.Input.reaches(r.id)})
	}
	for _, p := range v.spec.Parts {
		if p.Dir == "" {
			p.Dir = v.spec.Dir
		}
		s.Parts = append(s.Parts, agentPart{Part: p, File: v.sentIndex(&p)})
	}
	return s
}

// umask reads this process's, when nobody makes files.
func umask() int {
	m := syscall.Umask(0o077)
	syscall.Umask(m)
	return m
}

// meetHosts brings the agents of all other hosts to where they could start their
// ranks.
func (v *supervisor) meetHosts() error {
	if len(v.hosts) == 0 {
		return nil
	}
	for _, h := range v.hosts {
		if h.parent != nil {
			continue
		}
		if err := v.startAgent(h); err != nil {
			return err
		}
	}
	return v.awaitHosts(v.meetLimit(), "said that it could start its ranks", func(h *host) bool { return h.up })
}

// startAgent has a starter of this host start an agent.
func (v *supervisor) startAgent(h *host) error {
	s, err := startStarter(v.crew.reaper, v.starterArgv(h), v.spec.Reach.atDeath())
	if err != nil {
		return named(h, err)
	}
	demote(s.pid, v.crew.realtime)
	v.log.Debugf("%s: pid %d is to start its agent", h.name, s.pid)
	h.setWay(newWay(v.spec.Reach, s.conn, s.errs, s.ended, func() { v.crew.reaper.killStarter(s.pid) }))
	spec := v.agentSpec(h)
	go v.connect(h, spec)
	return nil
}

// meetLimit bounds the making of all sessions: agents start others in turn, and files
// may have to be sent.
func (v *supervisor) meetLimit() time.Duration {
	steps := 2 // with one in vain
	for h := v.hosts[len(v.hosts)-1]; h.parent != nil; h = h.parent {
		steps++
	}
	limit := time.Duration(steps) * (v.spec.AgentLimit + checkLimit)
	if len(v.sent) > 0 {
		limit += sendLimit
	}
	return limit
}

// startHosts has the agents start their ranks.
func (v *supervisor) startHosts() {
	for _, h := range v.hosts {
		h.order(toAgent{Start: true})
	}
}

// named is an error with its host's name.
func named(h *host, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Status: StatusInternal, Err: err}
	}
	return fail(e.Status, "%s: %w", h.name, e.Err)
}

// dismissLimit is how long agents have to end, when all that they had to do is done.
const dismissLimit = 2 * time.Second

// dismiss ends the sessions with all agents, and waits for the starters here. What an
// agent has not ended by itself it ends now.
func (v *supervisor) dismiss() {
	for _, h := range slices.Backward(v.hosts) {
		h.hangUp()
	}
	limit := time.After(dismissLimit)
	for _, h := range v.hosts {
		if h.way == nil || h.parent != nil {
			continue
		}
		select {
		case s := <-h.way.ended:
			h.way.ended <- s
		case <-limit:
			limit = time.After(0)
			h.way.stop()
		}
	}
	if len(v.hosts) > 0 {
		sweepOrphans() // a starter that was a shell of this host may have left an agent
	}
}
