package rendezvous

import (
	"errors"

	"github.com/verbena-mpi/verbena/eager"
)

// ErrUnwanted ends a send whose receiver has refused it.
var ErrUnwanted = errors.New("rendezvous: the receiver will not take the message")

// Refuse tells the sender of an offer, which was taken, that nobody will read it.
func (l *Layer) Refuse(ep *eager.Endpoint, offer eager.Extension) {
	finish := new(eager.Outgoing)
	finish.SetControl(eager.Header{Kind: eager.Finish, Flags: eager.FlagUnwanted}, eager.Extension{Name: offer.Name})
	ep.Enqueue(finish)
}
