// Package rendezvous sends large messages without copying them through buffers:
// the sender registers its memory and offers it (Offer), the receiver, once it
// has matched the offer, reads from it (Pull) and says that it is done (Finish).
// The receiver reads as much as it has room for, never more than was sent.
//
// Where registering memory costs time (verbs.Attr.Registration) both sides keep their
// registrations for the next message from the same memory, as long as the program
// has that memory (cache.go). A peer that keeps a key can read what is kept.
//
// Everything here runs under the progress engine's lock.
package rendezvous
