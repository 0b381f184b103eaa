// Package shm is the device between ranks of one host: queue pairs, receive
// queues and reads through shared memory, in pure Go.
//
// # Memory
//
// Each device owns two sealed, nameless segments (memfd). The first holds what
// peers write in order to reach this device (layout.go): a line ring per
// connected peer, the slots of its receive queues, the table of its
// registrations, the words of its reads in flight, and the chunks through which
// it streams. The second holds what Alloc gave out; peers map it and read it
// directly. Descriptors travel over an abstract unix socket (contact.go), so no
// name is left in any file system, and the socket's end is the peer's death.
//
// # A send
//
// The sender writes into the receiver's segment: a message of up to 112 bytes
// into the next cell of its own ring there, a longer one into a slot that it
// claims from the receive queue's pool by that slot's owner word, and the slot's
// number into the cell. The cell's word, written last, publishes both. Each ring
// has one writer and one reader. See tx.go, rx.go, rq.go.
//
// # A read
//
// There are three ways, chosen per read (way.go) and counted: direct, where the
// memory is mapped here; streamed through the owner's chunks, which the owner
// fills whenever it is polled (serve.go); and single copy, by process_vm_readv
// (vmread.go).
//
// # Trust
//
// What a peer can write is read once and checked; what doesn't check puts that
// queue pair, and no other, in the error state with StatusCorrupt.
package shm
