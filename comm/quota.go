package comm

import "github.com/verbena-mpi/verbena/internal/match"

// placeSize is what a message that waits takes in the table: at most, and while
// that grows.
const placeSize = 24

// quota is a peer's share of the memory for messages that wait: at least some
// messages' worth.
func quota(limit, peers int) int { return max(limit/max(peers, 1), 64<<10) }

// account counts a peer's messages that wait, and their memory.
type account struct {
	messages int
	bytes    int // of their records, and of what is behind these
}

// held is the memory that a peer's messages take here.
func (w *World) held(p *peer) int {
	return p.account.bytes + p.account.messages*(placeSize+w.table.Wild()*match.WildSize)
}

// charge notes that a message of p waits. A peer that is over its quota gets no
// more credits until it has come down to half of it.
func (w *World) charge(p *peer, u *unexpected) {
	u.setCharged(true)
	p.account.messages++
	p.account.bytes += u.memory()
	if w.held(p) > p.quota {
		p.ep.Hold(true)
	}
}

// discharge takes a message off its sender's account, if it is on it.
func (w *World) discharge(u *unexpected) {
	if !u.charged() {
		return
	}
	u.setCharged(false)
	p := w.peers[u.source()]
	was := w.held(p)
	p.account.messages--
	p.account.bytes -= u.memory()
	if half := p.quota / 2; p.lost == nil && was > half && w.held(p) <= half {
		p.ep.Hold(false)
	}
}
