package rendezvous

import (
	"errors"

	"github.com/verbena-mpi/verbena/eager"
)

// ErrUnwanted ends a send whose receiver has refused it.
var ErrUnwanted = errors.New("rendezvous: the receiver will not take the message")

// Refuse tells the sender of an offer, which was taken, that nobody will read it.
func (l *Layer) Refuse(ep *eager.Endpoint, offer eager.Extension) {
	answer(ep, offer, eager.FlagUnwanted)
}

// LetGo tells the sender of an offer, who has asked for it, that the offer is forgotten
// here.
func (l *Layer) LetGo(ep *eager.Endpoint, offer eager.Extension) {
	answer(ep, offer, eager.FlagWithdrawn)
}

// answer sends a finish without a read.
func answer(ep *eager.Endpoint, offer eager.Extension, flags uint8) {
	finish := new(eager.Outgoing)
	finish.SetControl(eager.Header{Kind: eager.Finish, Flags: flags}, eager.Extension{Name: offer.Name})
	ep.Enqueue(finish)
}
