package launcher

import (
	"syscall"
)

// connectThrough has the agent of another host start one.
func (v *supervisor) connectThrough(parent, h *host, spec *agentSpec) {
	id := spec.Index
	conn, err := openStream(parent.session, streamStarter, id)
	if err != nil {
		v.hostSays(hostEvent{h: h, err: fail(StatusHost, "%s: it was to be reached through %s: %w", h.name, parent.name, err)})
		return
	}
	errs, err := openStream(parent.session, streamStarterErr, id)
	if err != nil {
		v.hostSays(hostEvent{h: h, err: fail(StatusHost, "%s: it was to be reached through %s: %w", h.name, parent.name, err)})
		return
	}
	w := newWay(v.spec.Reach, nested{conn}, errs, make(chan syscall.WaitStatus, 1), func() { _ = nested{conn}.Close() })
	parent.mu.Lock()
	parent.calls[id] = w
	parent.mu.Unlock()
	h.setWay(w)
	parent.order(toAgent{Dial: &agentDial{ID: id, Argv: v.starterArgv(h), AtDeath: int(v.spec.Reach.atDeath())}})
	v.connect(h, spec)
}

// startInstead starts from here an agent that another one couldn't: perhaps hosts can't
// reach each other, but all can be reached from this one.
func (v *supervisor) startInstead(h *host, err error) error {
	v.log.Debugf("through %s: %v; trying from here", h.parent.name, err)
	h.hangUp()
	h.mu.Lock()
	h.parent, h.way, h.session, h.hungUp = nil, nil, nil, false
	h.orders = make(chan toAgent, orderRoom)
	h.mu.Unlock()
	return v.startAgent(h)
}

func (v *supervisor) starterArgv(h *host) []string {
	o := agentOptions{patience: v.spec.patience(), sum: v.self.Sum}
	return v.spec.Reach.argv(h.Host, agentCommand(v.spec.Self, v.self.Size, o.args()))
}
