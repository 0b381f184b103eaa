package comm

// A receive from any source hears of each death, once per communicator: the one
// that waits when it happens, or else the next one that would wait. Otherwise a
// rank that is busy with something else when a peer dies would wait for its
// messages for ever.

// die notes a death, which what waits for any source has just heard of, or will.
func (w *World) die(p *peer) { w.deaths = append(w.deaths, p) }

// heard says that all deaths so far were reported on the communicator, of which the
// last one is a member.
func (c *Comm) heard() { c.deaths = len(c.world.deaths) }

// unheard is the first death of a member that was not reported on the communicator; it
// is now.
func (c *Comm) unheard() error {
	for c.deaths < len(c.world.deaths) {
		p := c.world.deaths[c.deaths]
		c.deaths++
		if c.has(p) {
			return p.lost
		}
	}
	return nil
}

// Failed is the ranks of the communicator that are gone without having finished, as
// far as this rank has heard: those that died, that can't be reached, or that broke
// the protocol. It is local.
func (c *Comm) Failed() []int {
	c.world.eng.Lock()
	defer c.world.eng.Unlock()
	var failed []int
	for r, p := range c.peers[:c.size] {
		if p.lost != nil && p.lost.Cause != ErrFinished {
			failed = append(failed, r)
		}
	}
	return failed
}
