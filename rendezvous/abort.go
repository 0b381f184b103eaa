package rendezvous

import (
	"errors"

	"github.com/verbena-mpi/verbena/eager"
)

// ErrAborted ends a pull that was given up.
var ErrAborted = errors.New("rendezvous: given up")

// Abort gives a pull up whose owner has not been told of its end: it is told
// ErrAborted soon, or of an end that was quicker. From then on no peer and no device
// touches the memory. The sender isn't told: its message is still offered, and can be
// pulled again.
func (l *Layer) Abort(p *Pull) {
	if p.aborting || p.id >= len(l.pulls) || l.pulls[p.id] != p {
		return // it is over, but for the finish
	}
	p.aborting = true
	p.ep.QP().Abort(uint64(p.id)) // if it was not posted, Flush ends it
	p.eng.Posted()
}

// Offered is the offer that p pulls.
func (p *Pull) Offered() eager.Extension { return p.offer }

// Asked notes that the sender of an offer that is being pulled would have it back. The pull
// goes on.
func (l *Layer) Asked(ep *eager.Endpoint, offer eager.Extension) {
	for _, p := range l.pulls {
		if p != nil && p.ep == ep && p.offer.Name == offer.Name {
			p.asked = true
		}
	}
}

// Wanted says whether the offer that p has pulled, and given up, is still to be had: else it
// must be let go.
func (p *Pull) Wanted() bool { return !p.asked }
